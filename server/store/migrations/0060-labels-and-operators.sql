-- Labels group the sites of a company. Users and keys can be limited to the sites that have a label at the time.
create table labels (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  unique (id, company_id)
);
create unique index labels_name on labels (company_id, lower(name));

-- Has no reference to the site, so that a deleted site has its labels again when it is restored.
create table site_labels (
  site_id uuid not null,
  label_id uuid not null,
  company_id uuid not null,
  primary key (site_id, label_id),
  foreign key (label_id, company_id) references labels (id, company_id) on delete cascade
);
create index site_labels_label on site_labels (label_id, site_id);

alter table users
  add column label_ids uuid[],
  add constraint users_label_check check (label_ids is null or site_ids is not null);
alter table invitations
  add column label_ids uuid[],
  add constraint invitations_label_check check (label_ids is null or site_ids is not null);

create trigger site_labels_changed after insert or delete
  on site_labels for each statement execute function notify_of_key_change();

create trigger site_labels_listed after insert or delete on site_labels
  for each row execute function note_changed_row();
create trigger labels_shown after update of name on labels for each row execute function note_changed_row();

-- For overviews of many sites.
create index packages_vulnerable on packages (environment_id) where is_vulnerable;
create index operations_updates on operations (environment_id, finished_at) where state = 'succeeded' and kind like 'update%';

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
