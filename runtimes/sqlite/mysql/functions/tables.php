<?php
namespace WP_MySQL_Layer;

/** Figures about tables, estimated as MySQL does, and values of columns. */
final class Table_Functions extends Function_Set {
	public const VOLATILE = [ 'mysql_table_figure' ];

	/** The smallest piece of a file that MySQL gives to a table or a key. */
	private const PAGE = 16384;
	private const SAMPLE = 50;

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
	public function mysql_table_figure( string $table, string $figure ): ?int {
		$rows = (int) $this->value( 'SELECT COUNT(*) FROM %s', $table );
		switch ( $figure ) {
			case 'TABLE_ROWS':
				return $rows;
			case 'AVG_ROW_LENGTH':
				return 0 === $rows ? 0 : intdiv( $this->data_length( $table, $rows ), $rows );
			case 'DATA_LENGTH':
				return $this->data_length( $table, $rows );
			default:
				return $this->index_length( $table, $rows );
		}
	}

	private function data_length( string $table, int $rows ): int {
		$sql     = 'SELECT name FROM pragma_table_info(?)';
		$columns = $this->driver->execute_sqlite_query( $sql, [ $table ] )->fetchAll( \PDO::FETCH_COLUMN );
		$lengths = array_map( static fn ( string $name ) => 'IFNULL(OCTET_LENGTH(' . Schema::quoted( $name ) . '), 0)', $columns );
		$size    = implode( ' + ', $lengths );
		$name    = Schema::quoted( $table );
		$limit   = self::SAMPLE;
		$average = (float) $this->driver->execute_sqlite_query(
			"SELECT AVG(size) FROM (
				SELECT $size AS size FROM (SELECT * FROM $name LIMIT $limit)
				UNION ALL SELECT $size FROM (SELECT * FROM $name ORDER BY rowid DESC LIMIT $limit)
			)"
		)->fetchColumn();
		return self::pages( $rows * ( $average + 20 ) );
	}

	private function index_length( string $table, int $rows ): int {
		$keys = (int) $this->driver->execute_sqlite_query( 'SELECT COUNT(*) FROM pragma_index_list(?)', [ $table ] )->fetchColumn();
		return $keys * self::pages( $rows * 24 );
	}

	private static function pages( float $bytes ): int {
		return max( 1, (int) ceil( $bytes / self::PAGE ) ) * self::PAGE;
	}

	/** @return mixed */
	private function value( string $sql, string $table ) {
		return $this->driver->execute_sqlite_query( sprintf( $sql, Schema::quoted( $table ) ) )->fetchColumn();
	}
}
