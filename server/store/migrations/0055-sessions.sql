-- People sign in with a password and get a session: a key of another kind, which is accepted only in a cookie.
alter table api_keys
  add column kind text not null default 'key' check (kind in ('key', 'session')),
  add column ip_address text,
  add column browser_name text,
  add column os_name text;

-- All passwords so far were generated, and shown when the company was created.
alter table users add column must_change_password boolean not null default false;
update users set must_change_password = true;

-- Users who see and change only some sites.
alter table users
  add column site_ids uuid[],
  drop constraint users_role_check,
  add constraint users_role_check check (role in ('owner', 'admin', 'developer', 'billing', 'viewer'));

create table invitations (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'billing', 'viewer')),
  site_ids uuid[],
  secret_hash bytea not null,
  invited_by uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create unique index invitations_email on invitations (company_id, lower(email));
create index invitations_inviter on invitations (invited_by);

drop trigger users_changed on users;
create trigger users_changed after delete or update of role, full_name, first_name, must_change_password, site_ids
  on users for each statement execute function notify_of_key_change();

-- Attempts since the last one that succeeded, by a hash of the e-mail address, the network, or both.
create table sign_in_failures (
  subject bytea primary key,
  failures integer not null,
  last_at timestamptz not null default now(),
  previous_at timestamptz
);
create index sign_in_failures_last on sign_in_failures (last_at);
