-- Maximum visual difference after an update, in percent. Null: no screenshots.
alter table environments add column picture_threshold integer check (picture_threshold between 0 and 100);
