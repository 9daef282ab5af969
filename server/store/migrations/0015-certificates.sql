-- Certificates, and pending orders at certificate authorities. See docs/decisions/certificates.md.
create table certificates (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  source text not null check (source in ('custom', 'acme')),
  -- Lower case, as in DNS. May be wildcards such as `*.example.com`.
  names text[] not null,
  -- PEM: the leaf certificate, then the intermediate ones, without the root.
  chain text not null,
  -- Encrypted for `certificate:<id>`.
  key_sealed bytea not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  -- SHA-256 of the leaf certificate, in hex.
  fingerprint text not null,
  created_at timestamptz not null default now()
);
create index certificates_environment on certificates (environment_id, not_after desc);

-- This installation's account with each authority.
create table acme_accounts (
  -- URL of the authority's directory.
  directory text primary key,
  -- PEM, encrypted for `acme-account:<directory>`.
  key_sealed bytea not null,
  -- URL of the account. Null until it exists.
  url text,
  -- The authority accepts no requests before this time.
  wait_until timestamptz,
  wait_reason text
);

-- The pending order of a domain, and the last result.
create table certificate_orders (
  domain_id uuid primary key references domains on delete cascade,
  -- Chosen before the order is finalised, so that a retry after a crash creates no second certificate.
  certificate_id uuid,
  directory text,
  names text[] not null default '{}',
  -- URL of the order. Null if none is pending.
  url text,
  -- PEM, encrypted for `certificate:<certificate_id>`.
  key_sealed bytea,
  -- Additional names that were refused. The next order leaves them out.
  left_out text[] not null default '{}',
  -- Until then, one process is working on it.
  claimed_until timestamptz,
  next_try_at timestamptz not null default now(),
  failures integer not null default 0,
  last_error text,
  last_error_at timestamptz,
  -- The authority accepts no order for this domain before this time.
  limited_until timestamptz
);
create index certificate_orders_claimed on certificate_orders (claimed_until) where claimed_until is not null;

-- Orders that were placed with an authority, to stay below its limits.
create table begun_orders (
  id bigint generated always as identity primary key,
  -- The registrable domain: `example.co.uk`.
  registrable text not null,
  began_at timestamptz not null default now()
);
create index begun_orders_began on begun_orders (began_at);

-- HTTP-01 challenges, which are served below /.well-known/acme-challenge/.
create table acme_challenges (
  domain_id uuid not null references certificate_orders on delete cascade,
  host text not null,
  token text not null,
  content text not null,
  primary key (host, token)
);
create index acme_challenges_domain on acme_challenges (domain_id);
