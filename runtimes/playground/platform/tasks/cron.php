<?php
/**
 * Runs what WordPress has planned and what is due, one event after the other, as its own `wp-cron.php` does, of the site of
 * a network that the host and `path` lead to. Other than that it tells which events failed, goes on after one that throws
 * an error, and begins none after `seconds`.
 *
 * Each event is planned anew or taken off the list before it is run: one that never ends is not begun again and again.
 */

require __DIR__ . '/../task.php';

/** Where the hook is written down that is being run: after PHP was ended from outside, the next run tells which it was. */
const SITEWRIGHT_HOOK_OPTION = 'sitewright_planned_event';

$sitewright_cron = [
	'ran'    => 0,
	'failed' => [],
	'hook'   => null,
	'lock'   => null,
];

defined( 'DOING_CRON' ) || define( 'DOING_CRON', true );
$_SERVER['REQUEST_URI'] = sitewright_input()['path'] . 'wp-cron.php';

require '/site/wp-load.php';

wp_raise_memory_limit( 'cron' );
register_shutdown_function( 'sitewright_event_has_ended_php' );
if ( sitewright_take_cron_lock() ) {
	sitewright_tell_unfinished_event();
	sitewright_run_due_events( microtime( true ) + sitewright_input()['seconds'] );
	delete_option( SITEWRIGHT_HOOK_OPTION );
	sitewright_release_cron_lock();
}
sitewright_report( false );

/** Answers what was done. `$is_cut_short`: PHP is at its end, and other events are due. */
function sitewright_report( bool $is_cut_short ): never {
	global $sitewright_cron;
	sitewright_answer(
		[
			'ran'        => $sitewright_cron['ran'],
			'failed'     => $sitewright_cron['failed'],
			'isCutShort' => $is_cut_short,
		]
	);
}

/** For the answer, and for the site's log. */
function sitewright_event_failed( string $hook, string $message, string $more = '' ): void {
	global $sitewright_cron;
	$sitewright_cron['failed'][] = [
		'hook'    => $hook,
		'message' => substr( $message, 0, 500 ),
	];
	error_log( "Planned event $hook failed: $message$more" );
}

/** The time of a lock that is held, as it is stored; null if there is none. Asks the database and not what is remembered. */
function sitewright_cron_lock(): ?string {
	global $wpdb;
	if ( wp_using_ext_object_cache() ) {
		$lock = wp_cache_get( 'doing_cron', 'transient', true );
	} else {
		$lock = $wpdb->get_var( "SELECT option_value FROM $wpdb->options WHERE option_name = '_transient_doing_cron' LIMIT 1" );
	}
	return $lock ? (string) $lock : null;
}

/** The lock is WordPress's own: a visitor's page may have begun its `wp-cron.php`. One from the future is the clock's mistake. */
function sitewright_take_cron_lock(): bool {
	global $sitewright_cron;
	$now  = microtime( true );
	$held = (float) sitewright_cron_lock();
	if ( $held <= $now && $held + WP_CRON_LOCK_TIMEOUT > $now ) {
		return false;
	}
	$sitewright_cron['lock'] = sprintf( '%.22F', $now );
	set_transient( 'doing_cron', $sitewright_cron['lock'] );
	return true;
}

function sitewright_release_cron_lock(): void {
	global $sitewright_cron;
	if ( null !== $sitewright_cron['lock'] && sitewright_cron_lock() === $sitewright_cron['lock'] ) {
		delete_transient( 'doing_cron' );
	}
	$sitewright_cron['lock'] = null;
}

function sitewright_tell_unfinished_event(): void {
	$hook = get_option( SITEWRIGHT_HOOK_OPTION );
	if ( is_string( $hook ) && '' !== $hook ) {
		sitewright_event_failed( $hook, 'PHP was ended in the middle of it.' );
	}
}

function sitewright_run_due_events( float $until ): void {
	global $sitewright_cron;
	foreach ( wp_get_ready_cron_jobs() as $time => $hooks ) {
		foreach ( (array) $hooks as $hook => $events ) {
			foreach ( (array) $events as $event ) {
				if ( microtime( true ) > $until || sitewright_cron_lock() !== $sitewright_cron['lock'] ) {
					return;
				}
				sitewright_run_event( (int) $time, (string) $hook, (array) $event );
			}
		}
	}
}

function sitewright_run_event( int $time, string $hook, array $event ): void {
	global $sitewright_cron;
	$arguments = (array) ( $event['args'] ?? [] );
	// Another event may have taken it off the list.
	if ( ! wp_get_scheduled_event( $hook, $arguments, $time ) ) {
		return;
	}
	update_option( SITEWRIGHT_HOOK_OPTION, $hook, false );
	$sitewright_cron['hook'] = $hook;
	if ( $event['schedule'] ?? false ) {
		sitewright_tell_error( $hook, wp_reschedule_event( $time, $event['schedule'], $hook, $arguments, true ) );
	}
	sitewright_tell_error( $hook, wp_unschedule_event( $time, $hook, $arguments, true ) );
	++$sitewright_cron['ran'];
	try {
		do_action_ref_array( $hook, $arguments );
	} catch ( Throwable $error ) {
		sitewright_event_failed( $hook, get_class( $error ) . ': ' . $error->getMessage(), "\n" . $error->getTraceAsString() );
	}
	$sitewright_cron['hook'] = null;
}

/** @param mixed $result Of one of WordPress's functions. */
function sitewright_tell_error( string $hook, $result ): void {
	if ( is_wp_error( $result ) ) {
		sitewright_event_failed( $hook, $result->get_error_message() );
	}
}

/** Where a hook has ended PHP, with a fatal error or by `exit`, there is an answer nevertheless. */
function sitewright_event_has_ended_php(): void {
	global $sitewright_cron;
	if ( null === $sitewright_cron['hook'] ) {
		return;
	}
	// What has used up all memory may have left none for this.
	ini_set( 'memory_limit', '-1' );
	$error = error_get_last();
	if ( null !== $error && ( $error['type'] & ( E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR ) ) ) {
		sitewright_event_failed( $sitewright_cron['hook'], $error['message'] );
	}
	delete_option( SITEWRIGHT_HOOK_OPTION );
	sitewright_release_cron_lock();
	sitewright_report( true );
}
