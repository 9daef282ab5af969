<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOException;
use Throwable;
use WP_MySQL_On_SQLite;

/**
 * The session's transaction. An error undoes only its statement; definitions of tables commit; `autocommit=0` begins a
 * transaction with the next statement.
 *
 * SQLite allows one writing transaction at a time, and one that reads first can't write once another has written. So
 * SQLite's transaction begins with the first statement that writes or locks: reading blocks nobody, and a transaction
 * that waits for another one sees what that has written.
 */
final class Transactions {
	/** What MySQL's `innodb_lock_wait_timeout` is by default. */
	private const WAIT_SECONDS = 50;
	private const STATEMENT = WP_MySQL_On_SQLite::RESERVED_PREFIX . 'savepoint_statement';

	private Driver $driver;
	/** Whether the session is in a transaction. */
	private bool $is_open = false;
	/** Whether SQLite is. */
	private bool $has_begun = false;
	/** Whether the transaction is that of `LOCK TABLES`, which each statement would commit in MySQL. */
	private bool $has_locks = false;
	private bool $autocommit = true;
	/** Names of savepoints in lower case, oldest first. SQLite doesn't replace one of the same name. */
	private array $savepoints = [];
	/** How many statements are running: a statement may need others. */
	private int $depth = 0;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
		$this->wait_for( self::WAIT_SECONDS );
	}

	/** Sets how long a statement waits for another session's transaction. */
	public function wait_for( int $seconds ): void {
		$this->driver->get_sqlite_pdo()->setAttribute( PDO::ATTR_TIMEOUT, $seconds );
	}

	public function is_open(): bool {
		return $this->is_open;
	}

	/** Whether SQLite is in a transaction of the session. */
	public function has_begun(): bool {
		return $this->has_begun;
	}

	/** Whether an error must not undo more than its statement. */
	public function protects(): bool {
		return $this->has_begun && $this->depth > 0;
	}

	/** Whether a statement needs `run`. */
	public function concerns_all(): bool {
		return $this->is_open || ! $this->autocommit;
	}

	public function begin( bool $with_snapshot = false ): void {
		$this->commit();
		$this->is_open = true;
		if ( $with_snapshot ) {
			$this->execute( 'BEGIN' );
			$this->execute( 'SELECT 1 FROM sqlite_master LIMIT 1' );
			$this->has_begun = true;
		}
	}

	public function commit(): void {
		$this->end( 'COMMIT' );
	}

	public function rollback(): void {
		$this->end( 'ROLLBACK' );
	}

	private function end( string $how ): void {
		if ( $this->has_begun ) {
			$this->execute( $how );
		}
		$this->forget();
	}

	private function forget(): void {
		$this->is_open    = false;
		$this->has_begun  = false;
		$this->has_locks  = false;
		$this->savepoints = [];
	}

	/** `LOCK TABLES`: nobody else can write. */
	public function lock(): void {
		$this->begin();
		$this->begin_writing();
		$this->has_locks = true;
	}

	/** `UNLOCK TABLES`. */
	public function unlock(): void {
		if ( $this->has_locks ) {
			$this->commit();
		}
	}

	public function set_autocommit( bool $autocommit ): void {
		if ( $autocommit && ! $this->autocommit ) {
			$this->commit();
		}
		$this->autocommit = $autocommit;
	}

	/** Commits before a definition, as MySQL does. Locks of tables stay. */
	public function commit_before_definition(): void {
		$has_locks = $this->has_locks;
		$this->commit();
		$this->is_open   = $has_locks;
		$this->has_locks = $has_locks;
	}

	/**
	 * Runs a statement of the transaction. If it fails, the transaction goes on without it.
	 *
	 * @template T
	 * @param callable(): T $statement
	 * @return T
	 */
	public function run( callable $statement, bool $writes ) {
		if ( ! $this->autocommit ) {
			$this->is_open = true;
		}
		if ( $writes ) {
			$this->begin_writing();
		}
		$is_outermost = 0 === $this->depth && $this->has_begun && $writes;
		if ( $is_outermost ) {
			$this->execute( 'SAVEPOINT ' . self::STATEMENT );
		}
		++$this->depth;
		try {
			$result = $statement();
			if ( $is_outermost ) {
				$this->execute( 'RELEASE ' . self::STATEMENT );
			}
			return $result;
		} catch ( Throwable $error ) {
			if ( $is_outermost ) {
				$this->undo_statement();
			}
			throw $error;
		} finally {
			--$this->depth;
		}
	}

	/** Carries out changes of a statement together or not at all. */
	public function atomically( callable $changes ): void {
		if ( $this->has_begun ) {
			$changes();
			return;
		}
		$this->execute( 'BEGIN IMMEDIATE' );
		$this->has_begun = true;
		try {
			$this->run( $changes, false );
			$this->execute( 'COMMIT' );
		} catch ( Throwable $error ) {
			$this->execute( 'ROLLBACK' );
			throw $error;
		} finally {
			$this->has_begun = false;
		}
	}

	private function undo_statement(): void {
		try {
			$this->execute( 'ROLLBACK TO ' . self::STATEMENT );
			$this->execute( 'RELEASE ' . self::STATEMENT );
		} catch ( PDOException $_ ) {
			// After some errors, such as a full disk, SQLite has rolled back all.
			$this->forget();
		}
	}

	private function begin_writing(): void {
		if ( $this->is_open && ! $this->has_begun ) {
			$this->execute( 'BEGIN IMMEDIATE' );
			$this->has_begun = true;
		}
	}

	public function add_savepoint( string $name ): void {
		if ( ! $this->is_open && $this->autocommit ) {
			return;
		}
		$this->is_open = true;
		$this->begin_writing();
		$this->execute( 'SAVEPOINT ' . Schema::quoted( $name ) );
		$this->savepoints = [ ...array_diff( $this->savepoints, [ strtolower( $name ) ] ), strtolower( $name ) ];
	}

	/** Undoes what came after a savepoint, and keeps it. */
	public function rollback_to( string $name ): void {
		$position = $this->position( $name );
		$this->execute( 'ROLLBACK TO ' . Schema::quoted( $name ) );
		array_splice( $this->savepoints, $position + 1 );
	}

	public function release( string $name ): void {
		$position = $this->position( $name );
		$this->execute( 'RELEASE ' . Schema::quoted( $name ) );
		array_splice( $this->savepoints, $position );
	}

	private function position( string $name ): int {
		$position = array_search( strtolower( $name ), $this->savepoints, true );
		return false === $position ? throw Errors::create( $this->driver, 1305, "SAVEPOINT $name does not exist" ) : $position;
	}

	private function execute( string $sql ): void {
		$this->driver->get_sqlite_pdo()->exec( $sql );
	}
}
