-- The customers' own domains, in addition to the installation's domain of each environment ('temporary'). See
-- docs/decisions/domains.md.
alter table domains
  add column setup_type text not null default 'temporary' check (setup_type in ('temporary', 'quick', 'avoid_downtime')),
  -- Whether WordPress uses this name with https.
  add column is_https boolean not null default false,
  -- When ownership was proven by a DNS record, or found not to need a proof.
  add column verified_at timestamptz,
  -- When the name last resolved to this installation.
  add column points_here_at timestamptz,
  -- The resolver's answers, by record: {"TXT _name": ["value"]}.
  add column seen jsonb,
  add column checked_at timestamptz,
  -- Null if nothing needs to be checked.
  add column next_check_at timestamptz,
  -- Number of consecutive checks without an answer from the resolver.
  add column failed_checks integer not null default 0,
  -- Whether its zone is delegated to this installation.
  add column uses_own_dns boolean not null default false;
update domains set verified_at = created_at, points_here_at = created_at;
create unique index domains_temporary on domains (environment_id) where setup_type = 'temporary';
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_company on domains (company_id, created_at, id);
-- For lookups of a name's wildcard and of names below it, which compare from the end.
create index domains_reversed on domains (reverse(name) text_pattern_ops);

alter table environments
  add column force_https text check (force_https in ('same', 'primary'));

alter table deleted_environments
  -- The customer's own domains. They are restored unless another site has them.
  add column domains jsonb not null default '[]',
  add column force_https text check (force_https in ('same', 'primary'));
