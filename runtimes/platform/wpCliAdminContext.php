<?php
/**
 * `--context=admin`: runs a command as if in the dashboard, with its code, menus and hooks. WP-CLI's own version loads the
 * menus inside a method, where newer versions of WordPress do not find their global variables.
 */
final class Sitewright_Admin_Context implements WP_CLI\Context {
	public function process( $config ) {
		define( 'WP_ADMIN', true );
		$_SERVER['PHP_SELF'] = '/wp-admin/index.php';
		WP_CLI::add_wp_hook( 'init', fn() => $this->load(), PHP_INT_MIN, 0 );
	}

	private function load(): void {
		global $menu, $submenu, $compat, $_wp_last_object_menu, $_wp_last_utility_menu, $_wp_submenu_nopriv, $hook_suffix;
		$hook_suffix        ??= 'index.php';
		$_wp_submenu_nopriv ??= array();
		if ( 0 === get_current_user_id() ) {
			$administrators = get_users( array( 'role' => 'administrator', 'number' => 1, 'fields' => 'ID' ) );
			wp_set_current_user( (int) ( $administrators[0] ?? 0 ) );
		}
		require_once ABSPATH . 'wp-admin/includes/admin.php';
		require ABSPATH . 'wp-admin/menu.php';
		do_action( 'admin_init' );
	}
}
