-- Addresses and networks from which the key is accepted, in their shortest form. Null: from anywhere.
alter table api_keys add column allowed_addresses text[];
-- When the key was last accepted, to the minute or so. Null: never, or only before this migration.
alter table api_keys add column last_used_at timestamptz;
-- Creating and revoking keys needs a scope of its own. Keys that could create keys until now keep that permission.
update api_keys set scopes = scopes || 'keys'::text
  where 'write' = any(scopes) and 'keys' <> all(scopes)
    and not exists (select from unnest(scopes) as scope where scope like 'site:%');
