<?php
/**
 * sendmail, for `mail()`, where PHP starts real programs: `php sendmail.php SOCKET [option …]`. It reads the message to its end and
 * hands it to the server, and succeeds only if the server has stored it durably.
 */

require __DIR__ . '/messages.php';

/** Never 75 ("try again later"): PHP takes that for success. */
const SITEWRIGHT_REFUSED = 69;
/** More than a message may have: the server refuses it. */
const SITEWRIGHT_READ_BYTES = 26 << 20;

$sitewright_message = (string) stream_get_contents( STDIN, SITEWRIGHT_READ_BYTES );
$sitewright_answer  = sitewright_tell(
	array(
		'sitewright' => 'mail',
		'options'    => array_slice( $argv, 2 ),
		'message'    => base64_encode( $sitewright_message ),
	)
);
exit( 'stored' === $sitewright_answer ? 0 : SITEWRIGHT_REFUSED );
