-- The state `doomed` is called `unused` now.
alter table packs drop constraint packs_state_check;
update packs set state = 'unused' where state = 'doomed';
alter table packs add constraint packs_state_check check (state in ('writing', 'kept', 'lost', 'unused'));
