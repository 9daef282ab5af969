<?php
namespace WP_MySQL_Layer;

use PDOStatement;

/** Describes the columns of a SELECT as a table's, as `CREATE TABLE ... AS SELECT` needs it. */
final class Select_Columns {
	/** Types of values => types of columns that have room for all of them; others are texts. */
	private const TYPES = [
		...[ 'LONGLONG' => 'bigint(20)', 'LONG' => 'bigint(20)', 'TINY' => 'bigint(20)' ],
		...[ 'DOUBLE' => 'double', 'FLOAT' => 'double', 'NEWDECIMAL' => 'double', 'BLOB' => 'longblob' ],
	];

	private Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/**
	 * Returns definitions by name. A column of a table keeps its type, default and collation, but not its keys.
	 *
	 * @return array<string, string>
	 */
	public function of( string $select ): array {
		$result  = $this->driver->typed_query( $select );
		$renamed = $this->renamed( $select );
		$columns = [];
		for ( $i = 0; $i < $result->columnCount(); ++$i ) {
			$meta = $result->getColumnMeta( $i );
			if ( isset( $columns[ $meta['name'] ] ) ) {
				throw Errors::create( $this->driver, 1060, "Duplicate column name '{$meta['name']}'" );
			}
			$columns[ $meta['name'] ] = $this->of_table( $meta, $renamed ) ?? $this->of_value( $meta );
		}
		return $columns;
	}

	/** The names of columns that have other names as results, by these in lower case. @return array<string, string> */
	private function renamed( string $select ): array {
		$names = [];
		$items = $this->driver->parsed( $select )?->get_first_descendant_node( 'selectItemList' )?->get_child_nodes( 'selectItem' ) ?? [];
		foreach ( $items as $item ) {
			$alias  = $item->get_first_child_node( 'selectAlias' )?->get_descendant_tokens() ?? [];
			$column = $item->get_first_descendant_node( 'columnRef' );
			$expr   = $item->get_first_child_node( 'expr' );
			if ( [] !== $alias && null !== $column && $column->get_length() === $expr->get_length() ) {
				$names[ strtolower( end( $alias )->get_value() ) ] = Schema::last_name_of( $column );
			}
		}
		return $names;
	}

	private function of_table( array $meta, array $renamed ): ?string {
		$table = $meta['mysqli:orgtable'] ?? '';
		$name  = $renamed[ strtolower( $meta['name'] ) ] ?? $meta['name'];
		$found = '' === $table ? null : $this->driver->schema()->find( $table );
		foreach ( null === $found ? [] : $found->rows( 'columns' ) as $row ) {
			if ( 0 === strcasecmp( $row['COLUMN_NAME'], $name ) ) {
				return self::definition( $row );
			}
		}
		return null;
	}

	private static function definition( array $row ): string {
		$text    = $row['COLUMN_TYPE'];
		$text   .= null === $row['COLLATION_NAME']
			? ''
			: " CHARACTER SET {$row['CHARACTER_SET_NAME']} COLLATE {$row['COLLATION_NAME']}";
		$text   .= 'NO' === $row['IS_NULLABLE'] ? ' NOT NULL' : ' NULL';
		$default = $row['COLUMN_DEFAULT'];
		if ( null !== Generated_Columns::kind( $row['EXTRA'] ) ) {
			return $text;
		}
		if ( str_contains( $row['EXTRA'], 'auto_increment' ) ) {
			return "$text DEFAULT 0";
		}
		if ( null === $default ) {
			return $text;
		}
		if ( 'CURRENT_TIMESTAMP' === $default || 'bit' === $row['DATA_TYPE'] ) {
			$on_update = str_contains( $row['EXTRA'], 'on update' ) ? ' ON UPDATE CURRENT_TIMESTAMP' : '';
			return "$text DEFAULT $default$on_update";
		}
		return str_contains( $row['EXTRA'], 'DEFAULT_GENERATED' )
			? "$text DEFAULT ($default)"
			: "$text DEFAULT '" . addcslashes( $default, "\\'" ) . "'";
	}

	private function of_value( array $meta ): string {
		$is_text = 'TEXT' === ( $meta['sqlite:decl_type'] ?? '' );
		return $is_text ? 'longtext' : self::TYPES[ $meta['native_type'] ?? '' ] ?? 'longtext';
	}
}
