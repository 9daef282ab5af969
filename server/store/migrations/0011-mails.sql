-- Mail from sites, which is kept for viewing or sent to a mail server. See docs/decisions/mail.md.

-- Mail delivery of the environment. Null: sent for a live environment, kept for others.
alter table environments add column mail_delivery text check (mail_delivery in ('send', 'keep'));
alter table deleted_environments add column mail_delivery text;

create table mails (
  -- Chosen when PHP hands the mail over, so that retries store it only once.
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  -- Envelope sender, which gets bounces. Null if PHP named none.
  sender text,
  -- The From header, for lists.
  from_field text not null,
  subject text not null,
  recipients text[] not null,
  -- The recipients that it still has to be sent to.
  waiting text[] not null,
  -- [{recipient, message}]: permanent rejections, in the server's words.
  refused jsonb not null default '[]',
  message bytea not null,
  bytes integer not null,
  state text not null check (state in ('kept', 'queued', 'sent', 'bounced', 'failed')),
  -- A user requested this mail to be sent, whatever the setting.
  is_wanted boolean not null default false,
  attempts integer not null default 0,
  queued_at timestamptz,
  next_attempt_at timestamptz,
  -- Until then, one process is sending it.
  claimed_until timestamptz,
  last_error text,
  -- When the mail server accepted it for at least one recipient.
  sent_at timestamptz,
  created_at timestamptz not null default now()
);
-- Attachments are already compressed or can't be.
alter table mails alter column message set storage external;
create index mails_environment on mails (environment_id, created_at desc, id);
create index mails_queue on mails (environment_id, next_attempt_at) where state = 'queued';
create index mails_sent on mails (environment_id, sent_at) where sent_at is not null;
create index mails_created on mails (created_at);
