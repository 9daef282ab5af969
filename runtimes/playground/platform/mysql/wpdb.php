<?php
namespace WP_MySQL_Layer;

use PDO;
use Throwable;

/** WordPress's `$wpdb` on the layer. */
class WPDB extends \WP_SQLite_DB {
	/** Opens the database as the parent does, but with the layer, and without the parent's support for older places of it. */
	public function db_connect( $allow_bail = true ) {
		if ( $this->dbh ) {
			return $this->ready;
		}
		$this->last_error = '';
		if ( ! isset( $this->charset ) ) {
			$this->init_charset();
		}
		try {
			$this->dbh = new Driver( $this->data_source(), null, null, [
				'sqlite_journal_mode'        => defined( 'SQLITE_JOURNAL_MODE' ) ? SQLITE_JOURNAL_MODE : null,
				PDO::ATTR_STRINGIFY_FETCHES => true,
			] );
		} catch ( Throwable $error ) {
			$this->last_error = $error->getMessage();
			return false;
		}
		// Plugins expect the connection to SQLite here.
		$GLOBALS['@pdo']     = $this->dbh->get_sqlite_pdo();
		$this->has_connected = true;
		$this->set_charset( $this->dbh );
		$this->ready = true;
		$this->set_sql_mode();
		return true;
	}

	private function data_source(): string {
		$escape = static fn ( string $text ) => str_replace( ';', ';;', $text );
		return sprintf( 'mysql-on-sqlite:path=%s;dbname=%s', $escape( FQDB ), $escape( $this->dbname ) );
	}
}
