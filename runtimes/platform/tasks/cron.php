<?php
/**
 * Runs WP-Cron events that are due, one after the other, like `wp-cron.php`, on the site of a network given by the host
 * and `path`. In addition it reports failed events, continues after an event that throws an error, and starts none
 * after `seconds`.
 *
 * Each event is rescheduled or removed before it runs, so that an event that never ends is not repeated forever.
 */

require __DIR__ . '/../task.php';

/** Option with the hook that is running: if PHP is killed, the next run reports the hook. */
const SITEWRIGHT_HOOK_OPTION = 'sitewright_planned_event';

$sitewright_cron = [
	'ran'    => 0,
	'failed' => [],
	'hook'   => null,
	'lock'   => null,
];

defined( 'DOING_CRON' ) || define( 'DOING_CRON', true );
$_SERVER['REQUEST_URI'] = sitewright_task_input()['path'] . 'wp-cron.php';

require '/site/wp-load.php';

wp_raise_memory_limit( 'cron' );
register_shutdown_function( 'sitewright_report_at_shutdown' );
if ( sitewright_take_cron_lock() ) {
	sitewright_report_killed_event();
	sitewright_run_due_events( microtime( true ) + sitewright_task_input()['seconds'] );
	delete_option( SITEWRIGHT_HOOK_OPTION );
	sitewright_release_cron_lock();
}
sitewright_report( false );

/** Ends the task with its result. `$is_cut_short`: PHP is shutting down, and more events may be due. */
function sitewright_report( bool $is_cut_short ): never {
	global $sitewright_cron;
	sitewright_task_result(
		[
			'ran'        => $sitewright_cron['ran'],
			'failed'     => $sitewright_cron['failed'],
			'isCutShort' => $is_cut_short,
		]
	);
}

/** Adds a failure to the result and to the site's log. */
function sitewright_event_failed( string $hook, string $message, string $more = '' ): void {
	global $sitewright_cron;
	$sitewright_cron['failed'][] = [
		'hook'    => $hook,
		'message' => substr( $message, 0, 500 ),
	];
	error_log( "WP-Cron event $hook failed: $message$more" );
}

/** Reads WordPress's cron lock as stored; null if there is none. Bypasses WordPress's option cache. */
function sitewright_cron_lock(): ?string {
	global $wpdb;
	if ( wp_using_ext_object_cache() ) {
		$lock = wp_cache_get( 'doing_cron', 'transient', true );
	} else {
		$lock = $wpdb->get_var( "SELECT option_value FROM $wpdb->options WHERE option_name = '_transient_doing_cron' LIMIT 1" );
	}
	return $lock ? (string) $lock : null;
}

/**
 * Takes WordPress's own lock, because a visitor's page may have started `wp-cron.php`. Ignores a lock from the future,
 * which a wrong clock has left.
 */
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

function sitewright_report_killed_event(): void {
	$hook = get_option( SITEWRIGHT_HOOK_OPTION );
	if ( is_string( $hook ) && '' !== $hook ) {
		sitewright_event_failed( $hook, 'PHP was killed while running it.' );
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
	// Another event may have removed it.
	if ( ! wp_get_scheduled_event( $hook, $arguments, $time ) ) {
		return;
	}
	update_option( SITEWRIGHT_HOOK_OPTION, $hook, false );
	$sitewright_cron['hook'] = $hook;
	if ( $event['schedule'] ?? false ) {
		sitewright_report_error( $hook, wp_reschedule_event( $time, $event['schedule'], $hook, $arguments, true ) );
	}
	sitewright_report_error( $hook, wp_unschedule_event( $time, $hook, $arguments, true ) );
	++$sitewright_cron['ran'];
	try {
		do_action_ref_array( $hook, $arguments );
	} catch ( Throwable $error ) {
		sitewright_event_failed( $hook, get_class( $error ) . ': ' . $error->getMessage(), "\n" . $error->getTraceAsString() );
	}
	$sitewright_cron['hook'] = null;
}

/** @param mixed $result Result of a WordPress function. */
function sitewright_report_error( string $hook, $result ): void {
	if ( is_wp_error( $result ) ) {
		sitewright_event_failed( $hook, $result->get_error_message() );
	}
}

/** Reports at shutdown, if a hook has ended PHP with a fatal error or `exit`. */
function sitewright_report_at_shutdown(): void {
	global $sitewright_cron;
	if ( null === $sitewright_cron['hook'] ) {
		return;
	}
	// After a memory exhaustion none may be left for this.
	ini_set( 'memory_limit', '-1' );
	$error = error_get_last();
	if ( null !== $error && ( $error['type'] & ( E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR ) ) ) {
		sitewright_event_failed( $sitewright_cron['hook'], $error['message'] );
	}
	delete_option( SITEWRIGHT_HOOK_OPTION );
	sitewright_release_cron_lock();
	sitewright_report( true );
}
