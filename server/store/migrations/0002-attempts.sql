-- Number of attempts of the current step. A finished step resets it to 0, so it only grows if every process that runs
-- the step dies.
alter table operations add column attempts integer not null default 0;
