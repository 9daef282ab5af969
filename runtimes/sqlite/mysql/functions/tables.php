<?php
namespace WP_MySQL_Layer;

/** Figures about tables, estimated as MySQL does, and values of columns. */
final class Table_Functions extends Function_Set {
	public const VOLATILE = [ 'mysql_table_figure' ];

	/** The smallest piece of a file that MySQL gives to a table or a key. */
	private const PAGE = 16384;
	private const SAMPLE = 50;

	/** The statement whose tables have been measured. */
	private int $statement = -1;
	/** @var array<string, array<string, int>> Figures by table. */
	private array $figures = [];
	/** @var array<string, Members> By the type of their column. */
	private array $members = [];

	/** Returns the value of a column of bits: bytes are a number's digits. */
	public function mysql_bits( $value ): ?int {
		return is_int( $value ) ? $value : (int) hexdec( bin2hex( (string) $value ) );
	}

	/** Returns what a column of ENUM or SET keeps of a value. */
	public function mysql_member( $value, string $type ): string {
		$this->members[ $type ] ??= new Members( $type );
		return $this->members[ $type ]->kept( $value );
	}

	/** Returns a column of `information_schema.TABLES`. */
	public function mysql_table_figure( string $table, string $figure ): int {
		if ( $this->statement !== $this->driver->statement_count() ) {
			$this->statement = $this->driver->statement_count();
			$this->figures   = [];
		}
		$this->figures[ $table ] ??= $this->measured( $table );
		return $this->figures[ $table ][ $figure ];
	}

	/** @return array<string, int> */
	private function measured( string $table ): array {
		$name = Schema::quoted( $table );
		$rows = (int) $this->driver->get_sqlite_pdo()->query( "SELECT COUNT(*) FROM $name" )->fetchColumn();
		$data = $this->data_length( $table, $rows );
		return [
			'TABLE_ROWS'     => $rows,
			'AVG_ROW_LENGTH' => 0 === $rows ? 0 : intdiv( $data, $rows ),
			'DATA_LENGTH'    => $data,
			'INDEX_LENGTH'   => $this->index_length( $table, $rows ),
		];
	}

	private function data_length( string $table, int $rows ): int {
		$columns = $this->about( 'SELECT name FROM pragma_table_info(?)', $table )->fetchAll( \PDO::FETCH_COLUMN );
		$lengths = array_map( static fn ( string $name ) => 'IFNULL(OCTET_LENGTH(' . Schema::quoted( $name ) . '), 0)', $columns );
		$size    = implode( ' + ', $lengths );
		$name    = Schema::quoted( $table );
		$limit   = self::SAMPLE;
		$average = (float) $this->driver->get_sqlite_pdo()->query(
			"SELECT AVG(size) FROM (
				SELECT $size AS size FROM (SELECT * FROM $name LIMIT $limit)
				UNION ALL SELECT $size FROM (SELECT * FROM $name ORDER BY rowid DESC LIMIT $limit)
			)"
		)->fetchColumn();
		return self::pages( $rows * ( $average + 20 ) );
	}

	private function index_length( string $table, int $rows ): int {
		$keys = (int) $this->about( 'SELECT COUNT(*) FROM pragma_index_list(?)', $table )->fetchColumn();
		return $keys * self::pages( $rows * 24 );
	}

	/** Asks SQLite itself: for the driver, it is not a statement of the session. */
	private function about( string $sql, string $table ): \PDOStatement {
		$statement = $this->driver->get_sqlite_pdo()->prepare( $sql );
		$statement->execute( [ $table ] );
		return $statement;
	}

	private static function pages( float $bytes ): int {
		return max( 1, (int) ceil( $bytes / self::PAGE ) ) * self::PAGE;
	}
}
