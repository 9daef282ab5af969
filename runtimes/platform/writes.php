<?php
/**
 * Finds changes of which WordPress announces nothing: statements by plugins on their own tables, and on WordPress's tables
 * past its functions. They make all pages out of date, if someone made them on purpose.
 *
 * Visitors cause such statements too (statistics, sessions, forms), so only requests count that may carry changes: those of
 * people who are logged in and send something or use the dashboard, scheduled tasks, and programs that use the REST API.
 */

require_once __DIR__ . '/irrelevant.php';
require_once __DIR__ . '/statementOrigin.php';

/** WordPress's own tables. Its functions announce their changes to these by hooks. */
const SITEWRIGHT_CORE_TABLES = array(
	...array( 'posts', 'postmeta', 'terms', 'termmeta', 'term_taxonomy', 'term_relationships', 'options', 'users' ),
	...array( 'usermeta', 'links', 'comments', 'commentmeta', 'blogs', 'blogmeta', 'site', 'sitemeta' ),
);

/** Tables to which plugins write past WordPress's functions only to tidy up, such as old spam. */
const SITEWRIGHT_TIDIED_TABLES = array( 'comments', 'commentmeta', 'site', 'sitemeta', 'blogmeta' );

/** Longer beginnings of statements don't contain the table's name. */
const SITEWRIGHT_MAX_TOKENS = 64;

/** Whether someone who may edit the site, a scheduled task, or a program has sent this request to change something. */
function sitewright_is_edit(): bool {
	return sitewright_is_automatic() || ( sitewright_is_sent() && current_user_can( 'edit_posts' ) );
}

/** Whether this request may carry a change that was made on purpose. */
function sitewright_is_change(): bool {
	return sitewright_is_automatic() || sitewright_is_sent();
}

function sitewright_is_automatic(): bool {
	if ( wp_doing_cron() || ( defined( 'WP_CLI' ) && WP_CLI ) ) {
		return true;
	}
	// Browsers say where a request comes from that sends something. Forms and statistics of visitors use the REST API too.
	return sitewright_is_rest() && sitewright_is_writing()
		&& ! isset( $_SERVER['HTTP_ORIGIN'] ) && ! isset( $_SERVER['HTTP_SEC_FETCH_SITE'] );
}

/** Whether a person who is logged in sends something or uses the dashboard, which also sends its heartbeat by itself. */
function sitewright_is_sent(): bool {
	$is_heartbeat = wp_doing_ajax() && 'heartbeat' === ( $_POST['action'] ?? '' );
	if ( $is_heartbeat || ! sitewright_knows_sender() || ! sitewright_is_logged_in() ) {
		return false;
	}
	return is_admin() || sitewright_is_rest() || sitewright_is_writing();
}

/**
 * To find out, WordPress asks plugins and checks application passwords, which also writes when one was last used. Such a write
 * asks again, and would never end.
 */
function sitewright_is_logged_in(): bool {
	static $is_asking = false;
	if ( $is_asking ) {
		return false;
	}
	$is_asking = true;
	try {
		return is_user_logged_in();
	} finally {
		$is_asking = false;
	}
}

/** Whether WordPress knows who has sent the request. To ask it earlier could break plugins that recognise people. */
function sitewright_knows_sender(): bool {
	return did_action( 'init' ) > 0 || did_action( 'shutdown' ) > 0 || sitewright_is_automatic();
}

/** Notes a change whose maker is not known yet. It counts at the end of the request. */
function sitewright_note_early_change(): void {
	static $is_noted = false;
	if ( $is_noted ) {
		return;
	}
	$is_noted = true;
	add_action(
		'shutdown',
		static function () {
			if ( sitewright_is_edit() ) {
				require_once __DIR__ . '/touched.php';
				sitewright_touch_everything();
			}
		},
		PHP_INT_MAX
	);
}

function sitewright_is_rest(): bool {
	return defined( 'REST_REQUEST' ) && REST_REQUEST;
}

/** As the edge decides it: links that act carry a nonce. */
function sitewright_is_writing(): bool {
	$method = $_SERVER['REQUEST_METHOD'] ?? 'GET';
	return ! in_array( $method, array( 'GET', 'HEAD', 'OPTIONS' ), true )
		|| isset( $_GET['_wpnonce'] ) || isset( $_GET['_method'] );
}

/** Considers a statement that has run. */
function sitewright_see_write( string $statement ): void {
	static $is_done = false;
	if ( $is_done || ( sitewright_knows_sender() && ! sitewright_is_change() ) || ! sitewright_is_visible_write( $statement ) ) {
		return;
	}
	if ( ! sitewright_knows_sender() ) {
		sitewright_note_early_change();
	} else {
		$is_done = true;
		require_once __DIR__ . '/touched.php';
		sitewright_touch_everything();
	}
}

function sitewright_is_visible_write( string $statement ): bool {
	$tables = sitewright_written_tables( $statement );
	if ( array() === $tables ) {
		return false;
	}
	foreach ( $tables as $table ) {
		if ( in_array( $table, SITEWRIGHT_CORE_TABLES, true ) ) {
			if ( sitewright_is_unannounced( $table, $statement ) ) {
				return true;
			}
		} elseif ( ! sitewright_is_ignored( SITEWRIGHT_IGNORED_TABLES, $table ) ) {
			return true;
		}
	}
	return false;
}

/** Whether a plugin has written to one of WordPress's tables itself. */
function sitewright_is_unannounced( string $table, string $statement ): bool {
	if ( in_array( $table, SITEWRIGHT_TIDIED_TABLES, true ) || ( sitewright_knows_sender() && ! sitewright_is_edit() ) ) {
		return false;
	}
	if ( 'options' === $table && 1 === preg_match( '/transient|lock/', $statement ) ) {
		return false;
	}
	return ! sitewright_statement_origin()['is_core'];
}

/**
 * Returns the tables that a statement may change, without their prefix; more than that if it uses several. Empty if it only
 * reads. Reads tokens, so texts in the statement don't matter.
 */
function sitewright_written_tables( string $statement ): array {
	if ( ! class_exists( 'WP_MySQL_Lexer', false ) ) {
		return array( '' );
	}
	$names      = array();
	$is_writing = false;
	$is_create  = false;
	$lexer      = new WP_MySQL_Lexer( $statement );
	for ( $count = 0; $count < SITEWRIGHT_MAX_TOKENS && $lexer->next_token(); $count++ ) {
		$token = $lexer->get_token();
		switch ( $token->id ) {
			case WP_MySQL_Lexer::SHOW_SYMBOL:
			case WP_MySQL_Lexer::DESCRIBE_SYMBOL:
			case WP_MySQL_Lexer::DESC_SYMBOL:
			case WP_MySQL_Lexer::EXPLAIN_SYMBOL:
				if ( 0 === $count ) {
					return array();
				}
				break;
			case WP_MySQL_Lexer::INSERT_SYMBOL:
			case WP_MySQL_Lexer::REPLACE_SYMBOL:
			case WP_MySQL_Lexer::UPDATE_SYMBOL:
			case WP_MySQL_Lexer::DELETE_SYMBOL:
			case WP_MySQL_Lexer::TRUNCATE_SYMBOL:
			case WP_MySQL_Lexer::ALTER_SYMBOL:
			case WP_MySQL_Lexer::DROP_SYMBOL:
			case WP_MySQL_Lexer::RENAME_SYMBOL:
			case WP_MySQL_Lexer::LOAD_SYMBOL:
				$is_writing = true;
				break;
			case WP_MySQL_Lexer::CREATE_SYMBOL:
				$is_create = true;
				break;
			case WP_MySQL_Lexer::TEMPORARY_SYMBOL:
				return array();
			case WP_MySQL_Lexer::SELECT_SYMBOL:
				// A new table shows nothing until it has rows.
				$is_writing = $is_writing || $is_create;
				if ( $is_writing ) {
					break 2;
				}
				break;
			case WP_MySQL_Lexer::SET_SYMBOL:
				if ( 0 === $count ) {
					return array();
				}
				// Falls through.
			case WP_MySQL_Lexer::VALUES_SYMBOL:
			case WP_MySQL_Lexer::VALUE_SYMBOL:
			case WP_MySQL_Lexer::WHERE_SYMBOL:
			case WP_MySQL_Lexer::OPEN_PAR_SYMBOL:
				if ( $is_writing ) {
					break 2;
				}
				break;
			case WP_MySQL_Lexer::IDENTIFIER:
			case WP_MySQL_Lexer::BACK_TICK_QUOTED_ID:
				if ( $is_writing || $is_create ) {
					$names[] = $token->get_value();
				}
				break;
		}
	}
	return $is_writing ? sitewright_without_prefix( $names ) : array();
}

/** Keeps the names of the site's tables, without their prefix; or all names if there are none. */
function sitewright_without_prefix( array $names ): array {
	global $wpdb;
	$pattern = '/^' . preg_quote( $wpdb->base_prefix, '/' ) . '(?:\d+_)?(?=.)/i';
	$own     = preg_grep( $pattern, $names );
	if ( array() === $own ) {
		return array() === $names ? array( '' ) : array( strtolower( $names[0] ) );
	}
	return array_map( static fn ( $name ) => strtolower( preg_replace( $pattern, '', $name ) ), array_values( $own ) );
}
