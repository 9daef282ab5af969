-- Reconcilers look for due work every few seconds. With these indexes they read only rows for which there may be some, and not those
-- of every sleeping site.
create index environments_unread on environments (number) where packages_read_at is null;
create index operations_finished on operations (finished_at) where finished_at is not null;
create index packages_with_update on packages (environment_id) where update_version is not null;
create index domains_without_zone on domains (id) where zone_id is null and setup_type <> 'temporary';
create index domains_served on domains (environment_id) where is_active and setup_type <> 'temporary';

-- Every installed package has an offer, which was never checked at first.
create index package_offers_checked on package_offers (checked_at);
insert into package_offers (kind, file, checked_at) select distinct kind, file, timestamptz '-infinity' from packages
  on conflict do nothing;
