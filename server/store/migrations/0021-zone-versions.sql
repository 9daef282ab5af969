-- The records of a zone after each change, so that versions can be compared and restored.
create table zone_versions (
  zone_id uuid not null references zones on delete cascade,
  serial bigint not null,
  created_at timestamptz not null default now(),
  -- Objects with `name`, `type`, `ttl` and `values`, sorted by name and type.
  records jsonb not null,
  primary key (zone_id, serial)
);

insert into zone_versions (zone_id, serial, records)
select z.id, z.serial, coalesce(
  jsonb_agg(jsonb_build_object('name', r.name, 'type', r.type, 'ttl', r.ttl, 'values', to_jsonb(r.resource_records))
    order by r.name, r.type) filter (where r.name is not null), '[]')
from zones z left join dns_records r on r.zone_id = z.id group by z.id, z.serial;
