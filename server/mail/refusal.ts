/** A message is refused. The error text appears in PHP's log after "sendmail: "; it never quotes the message. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";
}
