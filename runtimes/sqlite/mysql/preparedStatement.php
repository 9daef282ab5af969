<?php
namespace WP_MySQL_Layer;

use Iterator;
use IteratorAggregate;
use PDO;
use PDOStatement;
use WP_MySQL_On_SQLite_Exception;

/** A statement that `PDO::prepare()` returns. Its values are put into the text of the statement when it is executed. */
final class Prepared_Statement extends PDOStatement implements IteratorAggregate {
	private Driver $driver;
	private Placeholders $placeholders;
	/** Values by position from 0, or by name. */
	private array $values = [];
	private array $types  = [];
	/** Arguments of the last `setFetchMode()`. */
	private array $fetch_mode       = [];
	private ?PDOStatement $executed = null;

	public function __construct( Driver $driver, string $query ) {
		$this->driver       = $driver;
		$this->placeholders = new Placeholders( $driver, $query );
		$this->queryString  = $query;
	}

	/** @param int|string $param */
	private static function key( $param ) {
		return is_int( $param ) ? $param - 1 : ltrim( $param, ':' );
	}

	public function bindValue( $param, $value, $type = PDO::PARAM_STR ): bool {
		$this->values[ self::key( $param ) ] = $value;
		$this->types[ self::key( $param ) ]  = $type;
		return true;
	}

	public function bindParam( $param, &$var, $type = PDO::PARAM_STR, $maxLength = 0, $driverOptions = null ): bool {
		$this->values[ self::key( $param ) ] = &$var;
		$this->types[ self::key( $param ) ]  = $type;
		return true;
	}

	public function execute( $params = null ): bool {
		$values = $this->values;
		foreach ( $params ?? [] as $param => $value ) {
			$values[ is_int( $param ) ? $param : self::key( $param ) ] = $value;
		}
		$executed = $this->driver->query( $this->placeholders->fill( $values, $this->types ) );
		if ( false === $executed ) {
			return false;
		}
		$this->executed = $executed;
		if ( [] !== $this->fetch_mode ) {
			$this->executed->setFetchMode( ...$this->fetch_mode );
		}
		return true;
	}

	private function executed(): PDOStatement {
		return $this->executed ?? throw new WP_MySQL_On_SQLite_Exception( $this->driver, 'The statement has not been executed.' );
	}

	#[\ReturnTypeWillChange]
	public function fetch( $mode = PDO::FETCH_DEFAULT, $cursorOrientation = PDO::FETCH_ORI_NEXT, $cursorOffset = 0 ) {
		return $this->executed()->fetch( $mode, $cursorOrientation, $cursorOffset );
	}

	public function fetchAll( $mode = PDO::FETCH_DEFAULT, ...$args ): array {
		return $this->executed()->fetchAll( $mode, ...$args );
	}

	#[\ReturnTypeWillChange]
	public function fetchColumn( $column = 0 ) {
		return $this->executed()->fetchColumn( $column );
	}

	#[\ReturnTypeWillChange]
	public function fetchObject( $class = 'stdClass', $constructorArgs = [] ) {
		return $this->executed()->fetchObject( $class, $constructorArgs );
	}

	public function rowCount(): int {
		return $this->executed()->rowCount();
	}

	public function columnCount(): int {
		return null === $this->executed ? 0 : $this->executed->columnCount();
	}

	#[\ReturnTypeWillChange]
	public function getColumnMeta( int $column ) {
		return $this->executed()->getColumnMeta( $column );
	}

	#[\ReturnTypeWillChange]
	public function setFetchMode( $mode, ...$args ): bool {
		$this->fetch_mode = [ $mode, ...$args ];
		return null === $this->executed || $this->executed->setFetchMode( $mode, ...$args );
	}

	public function bindColumn( $column, &$var, $type = PDO::PARAM_STR, $maxLength = 0, $driverOptions = null ): bool {
		return $this->executed()->bindColumn( $column, $var, $type, $maxLength, $driverOptions );
	}

	public function closeCursor(): bool {
		$this->executed = null;
		return true;
	}

	public function errorCode(): ?string {
		return $this->driver->errorCode();
	}

	public function errorInfo(): array {
		return $this->driver->errorInfo();
	}

	public function getIterator(): Iterator {
		return $this->executed()->getIterator();
	}
}
