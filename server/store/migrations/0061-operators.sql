-- The operators of the installation among the users: they see how the machine is doing. No role of a company gives that.
alter table users add column is_operator boolean not null default false;
-- The owner whom the first start created.
update users set is_operator = true where id = (
  select u.id from users u join companies c on c.id = u.company_id where u.role = 'owner'
  order by c.created_at, c.id, u.created_at, u.id limit 1);

drop trigger users_changed on users;
create trigger users_changed
  after delete or update of role, full_name, first_name, must_change_password, site_ids, label_ids, second_factor_since,
    is_operator
  on users for each statement execute function notify_of_key_change();
