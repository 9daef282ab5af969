-- Certificates, and what is under way with the authority that issues them. docs/decisions/certificates.md says more.
create table certificates (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  source text not null check (source in ('custom', 'acme')),
  -- Lower case, as in DNS; maybe `*.example.com`.
  names text[] not null,
  -- PEM, the names' own first, then whoever signed it; no root.
  chain text not null,
  -- Sealed for `certificate:<id>`.
  key_sealed bytea not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  -- SHA-256 of the first of the chain, in hex.
  fingerprint text not null,
  created_at timestamptz not null default now()
);
create index certificates_environment on certificates (environment_id, not_after desc);

-- This installation's account with each authority.
create table acme_accounts (
  -- The authority's directory.
  directory text primary key,
  -- PEM, sealed for `acme-account:<directory>`.
  key_sealed bytea not null,
  -- What the authority calls the account; null until it is there.
  url text,
  -- It said that it takes no more before that.
  wait_until timestamptz,
  wait_reason text
);

-- What is under way for a domain, and what came of it last.
create table certificate_orders (
  domain_id uuid primary key references domains on delete cascade,
  -- Chosen before the order is finalised: who takes it up after a crash makes no second certificate of it.
  certificate_id uuid,
  directory text,
  names text[] not null default '{}',
  -- What the authority calls the order; null: none is under way.
  url text,
  -- PEM, sealed for `certificate:<certificate_id>`.
  key_sealed bytea,
  -- Names that came along and were refused: the next order does without them.
  left_out text[] not null default '{}',
  -- Until then one process is at it.
  claimed_until timestamptz,
  next_try_at timestamptz not null default now(),
  failures integer not null default 0,
  last_error text,
  last_error_at timestamptz,
  -- The authority said that it takes none for this before that.
  limited_until timestamptz
);
create index certificate_orders_claimed on certificate_orders (claimed_until) where claimed_until is not null;

-- Each order that was begun with an authority, so that no more are than are allowed.
create table begun_orders (
  id bigint generated always as identity primary key,
  -- The name that whoever registers names sells: `example.co.uk`.
  registrable text not null,
  began_at timestamptz not null default now()
);
create index begun_orders_began on begun_orders (began_at);

-- What an authority asks for below /.well-known/acme-challenge/.
create table acme_challenges (
  domain_id uuid not null references certificate_orders on delete cascade,
  host text not null,
  token text not null,
  content text not null,
  primary key (host, token)
);
create index acme_challenges_domain on acme_challenges (domain_id);
