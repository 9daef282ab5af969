<?php
namespace WP_MySQL_Layer;

use WP_MySQL_On_SQLite_Exception;

/**
 * What plugins get as `$wpdb->dbh`: an object of mysqli on the driver, because they use mysqli's methods and functions with it.
 * PHP reads mysqli's properties from the extension's own connection, which there is none of; `fact()` has their values.
 *
 * As with WordPress's own connection, errors are no exceptions.
 */
final class Mysqli_Connection extends \mysqli {
	private Driver $driver;
	/** @var array{string, int, string}|null SQLSTATE, number and message of the last error. */
	private ?array $problem = null;
	private int $affected   = 0;
	private int $columns    = 0;
	/** @var Mysqli_Result|bool The result that `store_result()` returns. */
	private $stored         = false;

	public function __construct( Driver $driver ) {
		parent::__construct();
		$this->driver = $driver;
	}

	/** For plugins that know the driver. */
	public function __call( string $name, array $arguments ) {
		return $this->driver->$name( ...$arguments );
	}

	/**
	 * Returns the value of one of mysqli's properties.
	 *
	 * @return mixed
	 */
	public function fact( string $name ) {
		switch ( $name ) {
			case 'affected_rows':
				return $this->affected;
			case 'field_count':
				return $this->columns;
			case 'insert_id':
				return (int) $this->driver->lastInsertId();
			case 'sqlstate':
				return $this->problem[0] ?? '00000';
			case 'errno':
				return $this->problem[1] ?? 0;
			case 'error':
				return $this->problem[2] ?? '';
			case 'error_list':
				return null === $this->problem ? [] : [ array_combine( [ 'sqlstate', 'errno', 'error' ], $this->problem ) ];
			case 'server_info':
				return $this->driver->getAttribute( \PDO::ATTR_SERVER_VERSION );
			case 'server_version':
				return \WP_MySQL_On_SQLite::DEFAULT_MYSQL_VERSION;
			case 'host_info':
				return 'Localhost via UNIX socket';
			case 'protocol_version':
				return 10;
			case 'thread_id':
				return 1;
			case 'warning_count':
				return 0;
			default:
				return null;
		}
	}

	/** @return Mysqli_Result|bool */
	#[\ReturnTypeWillChange]
	public function query( string $query, int $result_mode = MYSQLI_STORE_RESULT ) {
		$this->problem = null;
		$this->columns = 0;
		try {
			$statement = $this->driver->query( $query );
		} catch ( WP_MySQL_On_SQLite_Exception $error ) {
			$this->problem  = [ (string) $error->errorInfo[0], (int) $error->errorInfo[1], (string) $error->errorInfo[2] ];
			$this->affected = -1;
			return false;
		}
		$this->columns = $statement->columnCount();
		if ( 0 === $this->columns ) {
			$this->affected = $statement->rowCount();
			return true;
		}
		$result         = new Mysqli_Result( $statement );
		$this->affected = $result->num_rows;
		return $result;
	}

	public function real_query( string $query ): bool {
		$this->stored = $this->query( $query );
		return false !== $this->stored;
	}

	/** One statement, as `query()`. */
	public function multi_query( string $query ): bool {
		return $this->real_query( rtrim( $query, "; \n\r\t" ) );
	}

	#[\ReturnTypeWillChange]
	public function store_result( int $mode = 0 ) {
		$stored       = $this->stored;
		$this->stored = false;
		return $stored instanceof Mysqli_Result ? $stored : false;
	}

	#[\ReturnTypeWillChange]
	public function use_result() {
		return $this->store_result();
	}

	public function more_results(): bool {
		return false;
	}

	public function next_result(): bool {
		return false;
	}

	#[\ReturnTypeWillChange]
	public function prepare( string $query ) {
		return new Mysqli_Statement( $this, $this->driver, $query );
	}

	/**
	 * `execute_query()`, whose result would have to be the extension's own.
	 *
	 * @return Mysqli_Result|bool
	 */
	public function run_with( string $query, array $params ) {
		return $this->query( ( new Placeholders( $this->driver, $query ) )->fill( $params ) );
	}

	#[\ReturnTypeWillChange]
	public function stmt_init() {
		return new Mysqli_Statement( $this, $this->driver, '' );
	}

	public function real_escape_string( string $string ): string {
		return substr( $this->driver->quote( $string ), 1, -1 );
	}

	public function escape_string( string $string ): string {
		return $this->real_escape_string( $string );
	}

	public function begin_transaction( int $flags = 0, ?string $name = null ): bool {
		return $this->query( 'START TRANSACTION' );
	}

	public function commit( int $flags = 0, ?string $name = null ): bool {
		return $this->query( 'COMMIT' );
	}

	public function rollback( int $flags = 0, ?string $name = null ): bool {
		return $this->query( 'ROLLBACK' );
	}

	public function savepoint( string $name ): bool {
		return $this->query( 'SAVEPOINT ' . Schema::quoted( $name ) );
	}

	public function release_savepoint( string $name ): bool {
		return $this->query( 'RELEASE SAVEPOINT ' . Schema::quoted( $name ) );
	}

	public function autocommit( bool $enable ): bool {
		return $this->query( 'SET autocommit = ' . (int) $enable );
	}

	public function select_db( string $database ): bool {
		return $this->query( 'USE ' . Schema::quoted( $database ) );
	}

	public function set_charset( string $charset ): bool {
		return $this->query( 'SET NAMES ' . $this->driver->quote( $charset ) );
	}

	public function character_set_name(): string {
		return 'utf8mb4';
	}

	public function get_charset(): ?object {
		return (object) [
			'charset'    => 'utf8mb4',
			'collation'  => Schema::COLLATION,
			'dir'        => '',
			'min_length' => 1,
			'max_length' => 4,
			'number'     => 246,
			'state'      => 1,
			'comment'    => '',
		];
	}

	public function get_server_info(): string {
		return $this->fact( 'server_info' );
	}

	#[\ReturnTypeWillChange]
	public function stat() {
		return 'Uptime: 1  Threads: 1';
	}

	public function ping(): bool {
		return true;
	}

	/** The connection is WordPress's own. */
	#[\ReturnTypeWillChange]
	public function close() {
		return true;
	}
}

/** A result in memory, with mysqli's methods and properties. */
final class Mysqli_Result implements \IteratorAggregate {
	public int $num_rows;
	public int $field_count;
	public int $current_field = 0;
	public ?array $lengths    = null;
	/** @var array[] Lists of values. */
	private array $rows;
	/** @var object[] */
	private array $fields = [];
	private int $position = 0;

	public function __construct( \PDOStatement $statement ) {
		$this->field_count = $statement->columnCount();
		for ( $i = 0; $i < $this->field_count; ++$i ) {
			$this->fields[] = self::field( $statement->getColumnMeta( $i ) );
		}
		$this->rows     = $statement->fetchAll( \PDO::FETCH_NUM );
		$this->num_rows = count( $this->rows );
	}

	private static function field( array $meta ): object {
		return (object) [
			'name'       => $meta['name'],
			'orgname'    => $meta['mysqli:orgname'] ?? $meta['name'],
			'table'      => $meta['table'] ?? '',
			'orgtable'   => $meta['mysqli:orgtable'] ?? '',
			'def'        => '',
			'db'         => $meta['mysqli:db'] ?? '',
			'catalog'    => 'def',
			'max_length' => 0,
			'length'     => $meta['len'] ?? 0,
			'charsetnr'  => $meta['mysqli:charsetnr'] ?? 246,
			'flags'      => $meta['mysqli:flags'] ?? 0,
			'type'       => $meta['mysqli:type'] ?? MYSQLI_TYPE_VAR_STRING,
			'decimals'   => $meta['precision'] ?? 0,
		];
	}

	/** @return array|null|false */
	public function fetch_row() {
		$row = $this->rows[ $this->position ] ?? null;
		if ( null !== $row ) {
			++$this->position;
			$this->lengths = array_map( static fn ( $value ) => strlen( (string) $value ), $row );
		}
		return $row;
	}

	public function fetch_assoc() {
		return $this->fetch_array( MYSQLI_ASSOC );
	}

	public function fetch_array( int $mode = MYSQLI_BOTH ) {
		$row = $this->fetch_row();
		if ( null === $row || MYSQLI_NUM === $mode ) {
			return $row;
		}
		$named = array_combine( array_column( $this->fields, 'name' ), $row );
		return MYSQLI_ASSOC === $mode ? $named : $row + $named;
	}

	public function fetch_object( string $class = 'stdClass', array $constructor_args = [] ) {
		$row = $this->fetch_assoc();
		if ( null === $row ) {
			return null;
		}
		$object = new $class( ...$constructor_args );
		foreach ( $row as $name => $value ) {
			$object->$name = $value;
		}
		return $object;
	}

	public function fetch_column( int $column = 0 ) {
		$row = $this->fetch_row();
		return null === $row ? false : $row[ $column ];
	}

	public function fetch_all( int $mode = MYSQLI_NUM ): array {
		$rows = [];
		while ( null !== ( $row = $this->fetch_array( $mode ) ) ) {
			$rows[] = $row;
		}
		return $rows;
	}

	public function fetch_field() {
		return $this->fields[ $this->current_field++ ] ?? false;
	}

	public function fetch_fields(): array {
		return $this->fields;
	}

	public function fetch_field_direct( int $index ) {
		return $this->fields[ $index ] ?? false;
	}

	public function field_seek( int $index ) {
		$this->current_field = $index;
		return true;
	}

	public function data_seek( int $offset ): bool {
		if ( $offset < 0 || $offset >= $this->num_rows ) {
			return false;
		}
		$this->position = $offset;
		return true;
	}

	public function free(): void {
		$this->rows = [];
	}

	public function close(): void {
		$this->free();
	}

	public function free_result(): void {
		$this->free();
	}

	public function getIterator(): \Iterator {
		while ( null !== ( $row = $this->fetch_assoc() ) ) {
			yield $row;
		}
	}
}

/** A prepared statement with mysqli's methods and properties. */
final class Mysqli_Statement {
	public int $affected_rows = 0;
	public int $insert_id     = 0;
	public int $num_rows      = 0;
	public int $param_count   = 0;
	public int $field_count   = 0;
	public int $errno         = 0;
	public string $error      = '';
	public string $sqlstate   = '00000';
	public array $error_list  = [];
	private Mysqli_Connection $connection;
	private Driver $driver;
	private Placeholders $placeholders;
	private string $types = '';
	private array $values = [];
	/** Data of `send_long_data()` by position. @var string[] */
	private array $long           = [];
	private ?Mysqli_Result $result = null;
	private array $bound          = [];

	public function __construct( Mysqli_Connection $connection, Driver $driver, string $query ) {
		$this->connection = $connection;
		$this->driver     = $driver;
		$this->prepare( $query );
	}

	public function prepare( string $query ): bool {
		$this->placeholders = new Placeholders( $this->driver, $query );
		$this->param_count  = $this->placeholders->count();
		return true;
	}

	public function bind_param( string $types, &...$vars ): bool {
		$this->types  = $types;
		$this->values = &$vars;
		return true;
	}

	public function send_long_data( int $param_num, string $data ): bool {
		$this->long[ $param_num ] = ( $this->long[ $param_num ] ?? '' ) . $data;
		return true;
	}

	public function execute( ?array $params = null ): bool {
		// Not those of the caller's variables, which are references.
		$values = [];
		$types  = [];
		foreach ( $params ?? $this->values as $i => $value ) {
			$type         = $this->types[ $i ] ?? 's';
			$values[ $i ] = $this->long[ $i ] ?? self::converted( $value, $type );
			$types[ $i ]  = 'b' === $type ? \PDO::PARAM_LOB : \PDO::PARAM_STR;
		}
		$this->long    = [];
		$result        = $this->connection->query( $this->placeholders->fill( $values, $types ) );
		$this->result  = $result instanceof Mysqli_Result ? $result : null;
		foreach ( [ 'affected_rows', 'insert_id', 'field_count', 'errno', 'error', 'sqlstate', 'error_list' ] as $name ) {
			$this->$name = $this->connection->fact( $name );
		}
		$this->num_rows = $this->result->num_rows ?? 0;
		return false !== $result;
	}

	private static function converted( $value, string $type ) {
		if ( null === $value || 's' === $type || 'b' === $type ) {
			return $value;
		}
		return 'i' === $type ? (int) $value : (float) $value;
	}

	/** @return Mysqli_Result|false */
	public function get_result() {
		return $this->result ?? false;
	}

	/** @return Mysqli_Result|false */
	public function result_metadata() {
		return $this->result ?? false;
	}

	public function store_result(): bool {
		return true;
	}

	public function bind_result( &...$vars ): bool {
		$this->bound = &$vars;
		return true;
	}

	public function fetch(): ?bool {
		$row = null === $this->result ? null : $this->result->fetch_row();
		if ( null === $row ) {
			return null;
		}
		foreach ( array_keys( $this->bound ) as $i ) {
			$this->bound[ $i ] = $row[ $i ];
		}
		return true;
	}

	public function data_seek( int $offset ): void {
		if ( null !== $this->result ) {
			$this->result->data_seek( $offset );
		}
	}

	public function free_result(): void {
		$this->result = null;
	}

	public function reset(): bool {
		$this->long = [];
		return true;
	}

	public function more_results(): bool {
		return false;
	}

	public function next_result(): bool {
		return false;
	}

	public function close(): bool {
		$this->result = null;
		return true;
	}
}
