<?php
/**
 * Hooks into changes that visitors can see. The callbacks are in `touched.php`, which is loaded at the first change, so
 * that pages without changes don't pay for it.
 */

/** Calls a function of `touched.php` with `$count` of the hook's arguments, starting at `$from`. */
function sitewright_when( string $hook, string $then, int $from = 0, int $count = 1, int $priority = 999 ): void {
	sitewright_hook(
		$hook,
		static function ( ...$given ) use ( $then, $from, $count ) {
			// Before WordPress is fully loaded, there are no permalinks.
			if ( function_exists( 'get_permalink' ) && did_action( 'plugins_loaded' ) > 0 ) {
				require_once __DIR__ . '/touched.php';
				$then( ...array_slice( $given, $from, $count ) );
			}
			// Some of these hooks are also filters.
			return $given[0] ?? null;
		},
		$priority,
		$from + $count
	);
}

// Before and after the change.
foreach ( array( 'pre_post_update', 'wp_trash_post', 'before_delete_post', 'save_post', 'add_attachment', 'edit_attachment', 'delete_attachment' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_post' );
}
sitewright_when( 'transition_post_status', 'sitewright_touch_post', 2 );
sitewright_when( 'set_object_terms', 'sitewright_touch_former_terms', 0, 6 );
foreach ( array( 'added_post_meta', 'updated_post_meta', 'deleted_post_meta' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_by_meta', 1, 2 );
}
foreach ( array( 'edit_comment', 'wp_insert_comment' ) as $hook ) {
	sitewright_hook(
		$hook,
		static function ( $id ) {
			if ( '1' === (string) get_comment( $id )?->comment_approved ) {
				require_once __DIR__ . '/touched.php';
				sitewright_touch_by_comment( $id );
			}
		},
		999
	);
}
sitewright_hook(
	'transition_comment_status',
	static function ( $new, $old, $comment ) {
		if ( $new !== $old && in_array( 'approved', array( $new, $old ), true ) ) {
			require_once __DIR__ . '/touched.php';
			sitewright_touch_by_comment( $comment );
		}
	},
	999,
	3
);
foreach ( array( 'updated_option', 'added_option', 'deleted_option', 'update_site_option', 'add_site_option', 'delete_site_option' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_by_option' );
}
sitewright_when( 'profile_update', 'sitewright_touch_by_user', 0, 2 );
foreach ( array( 'added', 'updated', 'deleted' ) as $done ) {
	sitewright_when( "{$done}_user_meta", 'sitewright_touch_by_user_meta', 2 );
	sitewright_when( "{$done}_comment_meta", 'sitewright_touch_by_comment_meta', 1 );
	sitewright_when( "{$done}_term_meta", 'sitewright_touch_by_term_meta', 1 );
}
sitewright_when( 'created_term', 'sitewright_touch_by_term', 2 );
foreach ( array( 'user_register', 'set_user_role', 'add_link', 'edit_link', 'delete_link' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_everything_by_edit', 0, 0 );
}
foreach (
	array(
		...array( 'edited_term', 'delete_term', 'deleted_user', 'switch_theme', 'customize_save_after', 'wp_update_nav_menu' ),
		...array( 'wp_delete_nav_menu', 'activated_plugin', 'deactivated_plugin', 'upgrader_process_complete' ),
		...array( '_core_updated_successfully', 'wp_ajax_edit-theme-plugin-file', 'sitewright_purge_all' ),
	) as $hook
) {
	sitewright_when( $hook, 'sitewright_touch_everything', 0, 0 );
}
sitewright_when( 'sitewright_purge_url', 'sitewright_touch_page' );
// WooCommerce.
foreach ( array( 'woocommerce_product_set_stock', 'woocommerce_variation_set_stock' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_stock' );
}
sitewright_when( 'woocommerce_product_set_stock_status', 'sitewright_touch_product', 2 );
sitewright_when( 'woocommerce_variation_set_stock_status', 'sitewright_touch_product', 2 );
foreach ( array( 'woocommerce_update_product', 'woocommerce_new_product' ) as $hook ) {
	sitewright_when( $hook, 'sitewright_touch_post' );
}

// What the page shows, if others may get it from the cache.
$sitewright_is_page = in_array( $_SERVER['REQUEST_METHOD'] ?? '', array( 'GET', 'HEAD' ), true )
	&& array() === preg_grep( '/^wordpress_logged_in_/', array_keys( $_COOKIE ) );
if ( $sitewright_is_page ) {
	foreach ( array( 'posts', 'terms', 'comments' ) as $what ) {
		sitewright_hook(
			"pre_get_$what",
			static function ( $query ) use ( $what ) {
				require_once __DIR__ . '/shown.php';
				"sitewright_show_$what"( $query );
			},
			PHP_INT_MAX
		);
	}
	sitewright_hook(
		'shutdown',
		static function () {
			require_once __DIR__ . '/shown.php';
			sitewright_report_shown();
		},
		998
	);
}

// Statements past WordPress's functions (`mysql/driver.php`).
sitewright_hook(
	'mysql_statement',
	static function ( $statement ) use ( $sitewright_is_page ) {
		if ( ! did_action( 'plugins_loaded' ) ) {
			return;
		}
		if ( 0 !== substr_compare( $statement, 'SELECT', strspn( $statement, " \t\r\n" ), 6, true ) ) {
			require_once __DIR__ . '/writes.php';
			sitewright_see_write( $statement );
		} elseif ( $sitewright_is_page ) {
			require_once __DIR__ . '/shown.php';
			sitewright_see_read( $statement );
		}
	},
	PHP_INT_MAX
);

// Only a read-only request has a database that refuses changes (`mysql/driver.php`).
sitewright_hook(
	'mysql_refused',
	static function () {
		sitewright_tell( array( 'sitewright' => 'refused' ) );
	}
);

// With this constant plugins tell any page cache that a page is for one visitor only.
sitewright_hook(
	'shutdown',
	static function () {
		if ( defined( 'DONOTCACHEPAGE' ) && DONOTCACHEPAGE ) {
			sitewright_tell( array( 'sitewright' => 'private' ) );
		}
	},
	999
);
