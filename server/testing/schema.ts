/** Describes the schema of a database as text, one line per object, so that changes show in review. */
import type pg from "pg";

const query = `
  with ours as (
    select c.oid, c.relname, c.relkind
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'S', 'v', 'm')
  )
  select line from (
    select o.relname as owner, 0 as rank, 0 as position,
      format('%s %s', case o.relkind when 'r' then 'table' when 'S' then 'sequence' else 'view' end, o.relname) as line
    from ours o
    union all
    select o.relname, 1, a.attnum, concat(
      '  ', a.attname, ' ', format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end,
      case when a.attidentity <> '' then ' identity' end,
      ' default ' || pg_get_expr(d.adbin, d.adrelid))
    from ours o
      join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
    where o.relkind <> 'S'
    union all
    select o.relname, 2, 0, concat('  ', r.conname, ' ', pg_get_constraintdef(r.oid))
    from ours o join pg_constraint r on r.conrelid = o.oid and r.contype <> 'n'
    union all
    select o.relname, 3, 0, concat('  ', pg_get_indexdef(i.indexrelid))
    from ours o join pg_index i on i.indrelid = o.oid
    union all
    select o.relname, 4, 0, concat('  ', pg_get_triggerdef(t.oid))
    from ours o join pg_trigger t on t.tgrelid = o.oid and not t.tgisinternal
  ) lines
  order by owner, rank, position, line`;

/** Returns tables, columns, constraints, indexes, triggers and sequences of the schema `public`, sorted. */
export async function describeSchema(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(query);
  return `${rows.map((row) => row.line.trimEnd()).join("\n")}\n`;
}
