-- Of an operation that failed because an environment was busy: the operations that held it or waited for it, as [{id, kind}].
alter table operations add column blocked_by jsonb;
-- For the list of a company's operations in a state.
create index operations_company_state on operations (company_id, state, created_at desc);
