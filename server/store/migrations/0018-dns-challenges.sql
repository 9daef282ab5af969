-- Where the installation's own DNS answers what a certificate authority asks about the domain: the absolute name, without
-- the final dot. Null: nowhere.
alter table domains add column challenge_name text;
