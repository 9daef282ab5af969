-- Passkeys. `second_factor_since` now says since when a user has any second factor.
alter table users add column second_factor_app_since timestamptz;
update users set second_factor_app_since = second_factor_since;
alter table users
  drop constraint users_second_factor_check,
  add constraint users_second_factor_check check (second_factor_app_since is null
    or (second_factor_sealed is not null and second_factor_since is not null));

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  credential_id text not null,
  public_key bytea not null,
  -- Of the console that added it. It is accepted at no other, not even at one of the same host.
  origin text not null,
  counter bigint not null,
  can_be_backed_up boolean not null,
  is_backed_up boolean not null,
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create unique index passkeys_credential on passkeys (credential_id);
create index passkeys_user on passkeys (user_id);

-- Challenges are sealed and not stored; those that were answered are, until they expire.
create table used_challenges (
  challenge_hash bytea primary key,
  expires_at timestamptz not null
);

-- Links that were mailed. Each mail has a secret of its own, which is made when it is sent and stored only as a hash.
create table mailed_links (
  id uuid primary key,
  secret_hash bytea not null,
  user_id uuid references users (id) on delete cascade,
  invitation_id uuid references invitations (id) on delete cascade,
  expires_at timestamptz not null,
  constraint mailed_links_check check (num_nonnulls(user_id, invitation_id) = 1)
);
create index mailed_links_user on mailed_links (user_id);
create index mailed_links_invitation on mailed_links (invitation_id);

-- Mails to people. Whether anybody has the address is found out when the mail is sent.
create table account_mails (
  id uuid primary key,
  kind text not null check (kind in ('password-reset', 'invitation')),
  email text not null,
  origin text not null,
  invitation_id uuid references invitations (id) on delete cascade,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  attempts integer not null default 0
);
create index account_mails_due on account_mails (next_attempt_at);
create index account_mails_invitation on account_mails (invitation_id);
