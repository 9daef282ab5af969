-- Zones of this installation's DNS: one for each registrable domain and company with a domain below it.
create sequence dns_generation;

create table zones (
  id uuid primary key default gen_random_uuid(),
  -- Null for the installation's own zones.
  company_id uuid references companies on delete cascade,
  name text not null,
  -- Starts with the time, so that a recreated zone is not mistaken for an older version.
  serial bigint not null default extract(epoch from now())::bigint,
  created_at timestamptz not null default now(),
  unique nulls not distinct (company_id, name)
);
create index zones_name on zones (name);

create table dns_records (
  zone_id uuid not null references zones on delete cascade,
  -- Without the trailing dot.
  name text not null,
  type text not null,
  ttl integer not null check (ttl > 0),
  resource_records text[] not null check (cardinality(resource_records) > 0),
  primary key (zone_id, name, type)
);

-- DNS-01 challenges, which are served in addition to the records of zones.
create table dns_challenges (
  name text not null,
  value text not null,
  expires_at timestamptz not null,
  primary key (name, value)
);

alter table domains add column zone_id uuid references zones on delete set null;
create index domains_zone on domains (zone_id);
