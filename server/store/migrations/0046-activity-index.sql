-- Deleting an entry of the activity log looks for the operations that refer to it.
create index operations_activity on operations (activity_id);
