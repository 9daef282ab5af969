-- Domains of the customers' own, beside the address that every environment has from the installation ('temporary').
-- docs/decisions/domains.md says more.
alter table domains
  add column setup_type text not null default 'temporary' check (setup_type in ('temporary', 'quick', 'avoid_downtime')),
  -- Whether the WordPress that is there knows this name by https.
  add column is_https boolean not null default false,
  -- Ownership was proven by its record, or needs no proof.
  add column verified_at timestamptz,
  -- When the name was last seen to lead here.
  add column points_here_at timestamptz,
  -- What the resolver said, by record: {"TXT _name": ["value"]}.
  add column seen jsonb,
  add column checked_at timestamptz,
  -- Null: there is nothing to be found out.
  add column next_check_at timestamptz,
  -- Checks in a row to which the resolver gave no answer.
  add column failed_checks integer not null default 0,
  -- Whether the world's delegation of its zone leads to this installation.
  add column uses_own_dns boolean not null default false;
update domains set verified_at = created_at, points_here_at = created_at;
create unique index domains_temporary on domains (environment_id) where setup_type = 'temporary';
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_company on domains (company_id, created_at, id);
-- A name's own wildcard, and the names below a name, are looked for from the end.
create index domains_reversed on domains (reverse(name) text_pattern_ops);

alter table environments
  add column force_https text check (force_https in ('same', 'primary'));

alter table deleted_environments
  -- Those of the customer's own, as they were: they come back where nobody else has them.
  add column domains jsonb not null default '[]',
  add column force_https text check (force_https in ('same', 'primary'));
