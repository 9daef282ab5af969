-- The name below which the installation's own DNS serves DNS-01 challenges for the domain: absolute, without the
-- trailing dot. Null if it does not.
alter table domains add column challenge_name text;
