<?php
namespace WP_MySQL_Layer;

// Before 8.3, PHP gives no other name to a class of its own.
if ( PHP_VERSION_ID >= 80400 ) {
	class Sqlite_PDO extends \Pdo\Sqlite {}
} else {
	class Sqlite_PDO extends \PDO {}
}

/** The connection to SQLite. */
class Connection extends Sqlite_PDO {
	/** Whether an error must not undo more than its statement. */
	public ?Transactions $transactions = null;

	/** The driver undoes the whole transaction if a statement fails. `Transactions` undoes the statement instead. */
	#[\ReturnTypeWillChange]
	public function prepare( string $query, array $options = [] ) {
		$is_refused = 'ROLLBACK' === $query && null !== $this->transactions && $this->transactions->protects();
		return parent::prepare( $is_refused ? 'SELECT 1' : $query, $options );
	}
}
