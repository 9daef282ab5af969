-- What sites send: kept to be looked at, or handed to a mail server. docs/decisions/mail.md says more.
-- What becomes of what the environment sends; null: a live one's is sent, any other's kept.
alter table environments add column mail_delivery text check (mail_delivery in ('send', 'keep'));
alter table deleted_environments add column mail_delivery text;

create table mails (
  -- Chosen when PHP handed it over, so that it is taken once, however often that is tried.
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  -- Whom it is from where it can't be delivered; null where PHP named nobody.
  sender text,
  -- The field of its header, for lists.
  from_field text not null,
  subject text not null,
  recipients text[] not null,
  -- Of them, those to whom it is still to be sent.
  waiting text[] not null,
  -- [{recipient, message}]: for good, in the server's words.
  refused jsonb not null default '[]',
  message bytea not null,
  bytes integer not null,
  state text not null check (state in ('kept', 'queued', 'sent', 'bounced', 'failed')),
  -- Somebody asked for this very one to be sent, whatever becomes of the others.
  is_wanted boolean not null default false,
  attempts integer not null default 0,
  queued_at timestamptz,
  next_attempt_at timestamptz,
  -- Until then one process is at it.
  claimed_until timestamptz,
  last_error text,
  -- When the server took it, for whomever.
  sent_at timestamptz,
  created_at timestamptz not null default now()
);
-- Attachments are compressed already, or can't be.
alter table mails alter column message set storage external;
create index mails_environment on mails (environment_id, created_at desc, id);
create index mails_queue on mails (environment_id, next_attempt_at) where state = 'queued';
create index mails_sent on mails (environment_id, sent_at) where sent_at is not null;
create index mails_created on mails (created_at);
