-- The export of a period of the activity log begins and ends at the entries of these times, instead of reading all of it.
create index activity_created_at on activity (created_at);
