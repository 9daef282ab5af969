-- Codes of an authenticator app as a second factor. The secret is sealed; until the first code it is not in force.
alter table users
  add column second_factor_sealed bytea,
  add column second_factor_since timestamptz,
  -- The time step of the last code that was accepted: that one and earlier ones are not accepted again.
  add column second_factor_step bigint not null default 0,
  add constraint users_second_factor_check check (second_factor_since is null or second_factor_sealed is not null);

-- Codes for people who have lost their authenticator app. Each one is deleted when it is used.
create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- Whether sessions of users without a second factor can do nothing but add one.
alter table companies add column requires_second_factor boolean not null default false;

drop trigger users_changed on users;
create trigger users_changed
  after delete or update of role, full_name, first_name, must_change_password, site_ids, second_factor_since
  on users for each statement execute function notify_of_key_change();
create trigger companies_changed after update of requires_second_factor
  on companies for each statement execute function notify_of_key_change();
