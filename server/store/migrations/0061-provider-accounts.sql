-- Accounts at OpenID Connect providers with which users sign in. The issuer and the subject name an account: its e-mail address may change.
create table provider_accounts (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  issuer text not null,
  subject text not null,
  -- As the provider has said at the last sign-in. It decides nothing.
  email text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create unique index provider_accounts_subject on provider_accounts (issuer, subject);
create unique index provider_accounts_user on provider_accounts (user_id, issuer);
