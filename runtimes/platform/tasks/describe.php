<?php
/** Reports WordPress's version and address, which also shows whether it loads with its plugins and theme. */

require __DIR__ . '/../task.php';
require '/site/wp-load.php';

sitewright_task_result(
	[
		'version'   => wp_get_wp_version(),
		'address'   => home_url(),
		'multisite' => is_multisite(),
	]
);
