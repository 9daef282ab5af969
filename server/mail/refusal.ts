/** Why a message is not taken. `message` is the middle of a sentence that PHP's log gets; it quotes nothing of the message. */
export class MailRefused extends Error {
  override readonly name = "MailRefused";
}
