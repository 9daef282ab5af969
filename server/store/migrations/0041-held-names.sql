-- Names that may belong to another company are served only once ownership is proven. See docs/decisions/domains.md.
alter table domains
  -- What needs the proof: 'all' of it, or its 'subdomains', which are also served once the name points here.
  add column proof_needed text check (proof_needed in ('subdomains', 'all')),
  add constraint domains_proven_if_active
    check (not is_active or verified_at is not null or proof_needed is distinct from 'all');

-- Names that a company had. They are held for it, because their DNS often still points here. Expired rows stay: another company
-- then needs a proof for the names above and below, too.
create table held_names (
  name text not null,
  -- Not a reference: names of deleted companies are held, too.
  company_id uuid not null,
  -- Whether names below it were served, too.
  is_wildcard boolean not null,
  -- Until then, only this company can have the name without a proof.
  held_until timestamptz not null,
  primary key (name, company_id)
);
create index held_names_reversed on held_names (reverse(name) text_pattern_ops);

-- Sites and environments that can still be restored.
insert into held_names (name, company_id, is_wildcard, held_until)
select d ->> 'name', e.company_id, bool_or((d ->> 'is_wildcard')::boolean),
  max(greatest(e.restorable_until, e.deleted_at + interval '30 days'))
from deleted_environments e, jsonb_array_elements(e.domains) d group by 1, 2;

-- Domains that were removed before, as far as the activity log knows them.
insert into held_names (name, company_id, is_wildcard, held_until)
select n.name, a.company_id, false, max(a.created_at) + interval '30 days'
from activity a, unnest(string_to_array(a.parameters ->> 'domainName', ', ')) n (name)
where a.type in ('addDomain', 'deleteDomain') and a.is_done and not a.has_failed
  and a.company_id is not null and not exists (select from domains d where d.name = n.name)
group by 1, 2 on conflict do nothing;

-- A trigger, so that no way to lose a domain is missed: removal, deletion of its environment, site or company, and others.
create function hold_name() returns trigger language plpgsql as $$
begin
  insert into held_names (name, company_id, is_wildcard, held_until)
  values (old.name, old.company_id,
    old.is_wildcard and (old.proof_needed is null or old.verified_at is not null or old.points_here_at is not null),
    greatest(now() + interval '30 days',
      (select restorable_until from deleted_environments where id = old.environment_id)))
  on conflict (name, company_id) do update
    set is_wildcard = excluded.is_wildcard, held_until = greatest(held_names.held_until, excluded.held_until);
  return null;
end $$;
create trigger domains_deleted after delete on domains for each row
  when (old.setup_type <> 'temporary' and (old.verified_at is not null or old.proof_needed is distinct from 'all'))
  execute function hold_name();

-- Zones are published again, because removed names may have hidden, or shared a zone with, another company's.
create function announce_zones() returns trigger language plpgsql as $$
begin
  -- Like `dnsGenerations.announce`.
  perform pg_advisory_xact_lock_shared(4711013);
  perform nextval('dns_generation');
  return null;
end $$;
create trigger domains_left_zone after delete on domains for each row
  when (old.zone_id is not null) execute function announce_zones();

-- What the DNS server was last sent for each zone, which may be merged from the zones of several companies.
create table served_zones (
  name text primary key,
  serial bigint not null,
  -- Of the content. If it changes, so does the serial.
  digest text not null
);
