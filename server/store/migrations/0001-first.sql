create table companies (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  email text not null,
  full_name text not null,
  first_name text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'billing')),
  password_hash text not null,
  created_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));
create index users_company on users (company_id);

create table api_keys (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  user_id uuid not null references users on delete cascade,
  name text not null,
  -- SHA-256 of the secret part; the secret has 256 random bits, so a slow hash would add nothing.
  secret_hash bytea not null,
  scopes text[],
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_company on api_keys (company_id, created_at desc);

create table sites (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  name text not null unique,
  display_name text not null,
  region text not null,
  -- A site is shown only when it is 'live' or 'deleting'.
  state text not null check (state in ('adding', 'live', 'deleting')),
  created_at timestamptz not null default now()
);
create unique index sites_display_name on sites (company_id, lower(display_name));
create index sites_company on sites (company_id, created_at);

create table environments (
  id uuid primary key,
  number integer generated always as identity unique,
  site_id uuid not null references sites on delete cascade,
  company_id uuid not null references companies on delete cascade,
  name text not null,
  display_name text not null,
  is_premium boolean not null default false,
  php_version text not null,
  wordpress_version text,
  is_opt_out_from_automatic_php_update boolean not null default false,
  -- Only 'serving' environments are published to the edge.
  state text not null check (state in ('adding', 'serving', 'deleting')),
  container_id uuid not null,
  created_at timestamptz not null default now(),
  unique (site_id, name)
);

create table domains (
  id uuid primary key,
  environment_id uuid not null references environments on delete cascade,
  site_id uuid not null references sites on delete cascade,
  company_id uuid not null references companies on delete cascade,
  name text not null unique,
  is_active boolean not null default true,
  is_primary boolean not null default false,
  is_wildcard boolean not null default false,
  created_at timestamptz not null default now()
);
create index domains_environment on domains (environment_id);
create unique index domains_primary on domains (environment_id) where is_primary;

create table activity (
  id bigint generated always as identity primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid,
  category text not null,
  type text not null,
  -- Parameters of the descriptions, which are built in the reader's language.
  parameters jsonb not null default '{}',
  is_done boolean not null default false,
  has_failed boolean not null default false,
  has_warning boolean not null default false,
  public_error text,
  ip_address text,
  user_id uuid,
  user_role text,
  user_full_name text,
  user_first_name text,
  api_key_id uuid,
  api_key_name text,
  browser_name text,
  browser_version text,
  os_name text,
  created_at timestamptz not null default now()
);
create index activity_company on activity (company_id, id desc);
create index activity_company_category on activity (company_id, category, id desc);
create index activity_company_site on activity (company_id, site_id, id desc);
create index activity_company_user on activity (company_id, user_id, id desc);
create index activity_company_api_key on activity (company_id, api_key_id, id desc);

create table operations (
  -- The prefix of its kind and a UUID: sites:add-54fb80af-….
  id text primary key,
  kind text not null,
  company_id uuid not null references companies on delete cascade,
  -- The site and environment may no longer exist when the operation is read.
  site_id uuid,
  environment_id uuid,
  activity_id bigint not null references activity,
  state text not null check (state in ('waiting', 'running', 'succeeded', 'failed')),
  step text,
  steps_done integer not null default 0,
  steps_total integer not null,
  input jsonb not null,
  -- Sealed with a key outside the database, and emptied when the operation ends.
  secret bytea,
  result jsonb,
  public_error text,
  reference_id uuid not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index operations_company on operations (company_id, created_at desc);
create index operations_unfinished on operations (created_at) where state in ('waiting', 'running');

-- One operation at a time per environment. A site-wide operation holds one row for each of the site's environments.
create table environment_locks (
  environment_id uuid primary key,
  operation_id text not null references operations on delete cascade
);
create index environment_locks_operation on environment_locks (operation_id);

create table operation_wants (
  operation_id text not null references operations on delete cascade,
  environment_id uuid not null,
  primary key (operation_id, environment_id)
);

create table idempotency_keys (
  api_key_id uuid not null references api_keys on delete cascade,
  key text not null,
  request_hash bytea not null,
  -- Null while the first request is still being answered.
  status integer,
  headers jsonb,
  body text,
  created_at timestamptz not null default now(),
  primary key (api_key_id, key)
);
create index idempotency_keys_created on idempotency_keys (created_at);

create sequence edge_generation;
