-- How often a process began the step that the operation stands at. A step that ends sets it back to 0, so that
-- it grows only where each process that takes the operation up dies of it.
alter table operations add column attempts integer not null default 0;
