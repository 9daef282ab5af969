-- Entries about the operator's actions belong to no company.
alter table activity alter column company_id drop not null;
-- Whether the hash chain has the entry and, once it is done, its outcome.
alter table activity add column is_sealed boolean not null default false;
create index activity_unsealed on activity (id) where not is_sealed;

create table activity_seals (
  -- The company, or the nil UUID for the operator's entries.
  chain uuid not null,
  sequence bigint not null,
  -- Not a reference: the deletion of an entry must leave its seal.
  activity_id bigint not null,
  -- Whether it covers an entry in progress, the same entry with its outcome, or both at once.
  stage text not null check (stage in ('begun', 'ended', 'whole')),
  sealed_at timestamptz not null,
  hash bytea not null,
  primary key (chain, sequence)
);
create index activity_seals_entry on activity_seals (activity_id);
