-- A site with WordPress is created by the same steps as an environment: operations that are underway get that input.
update operations
set input = (input - 'wordpress' - 'plugins') || jsonb_build_object(
    'isNewSite', true,
    'address', input -> 'wordpress' -> 'address',
    'content', (input -> 'wordpress') - 'address'
      || jsonb_build_object('kind', 'wordpress', 'plugins', coalesce(input -> 'plugins', '[]')))
where kind = 'addSite' and state in ('waiting', 'running') and input ? 'wordpress';
