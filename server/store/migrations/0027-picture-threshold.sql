-- In percent: so much of a picture may be another after an update. Null: no pictures are taken.
alter table environments add column picture_threshold integer check (picture_threshold between 0 and 100);
