<?php
/**
 * How a task of the platform gives its answer. It requires this file, then `/site/wp-load.php` at its top level, and ends
 * with `sitewright_answer`.
 *
 * What plugins print meanwhile is dropped. The answer stands between two marks that are drawn anew for each task, so
 * that nothing which is printed after it, or past the buffers, passes for one.
 */

require __DIR__ . '/order.php';

$sitewright_order['is_answered'] = false;
ob_start( static fn ( string $text ) => $GLOBALS['sitewright_order']['is_answered'] ? $text : '', 4096 );

/** Ends the task with this answer. */
function sitewright_answer( array $answer ): never {
	$GLOBALS['sitewright_order']['is_answered'] = true;
	// A buffer that can't be removed would stay the last for ever; the answer goes through it then.
	while ( ob_get_level() > 0 && @ob_end_clean() );
	$mark = $GLOBALS['sitewright_order']['mark'];
	echo $mark, json_encode( $answer, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR ), $mark;
	exit;
}
