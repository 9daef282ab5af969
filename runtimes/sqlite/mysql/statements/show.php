<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `SHOW`, as far as the driver doesn't answer it, or not fully. */
final class Show implements Statement {
	/** Results without rows: second word, and third where it matters => columns. */
	private const EMPTY = [
		'TRIGGERS'         => 'Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_connection,'
			. 'Database Collation',
		'EVENTS'           => 'Db,Name,Definer,Time zone,Type,Execute at,Interval value,Interval field,Starts,Ends,Status,Originator,'
			. 'character_set_client,collation_connection,Database Collation',
		'PROCEDURE STATUS' => 'Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,'
			. 'Database Collation',
		'FUNCTION STATUS'  => 'Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,'
			. 'Database Collation',
		'OPEN TABLES'      => 'Database,Table,In_use,Name_locked',
		'PROFILES'         => 'Query_ID,Duration,Query',
		'PROFILE'          => 'Status,Duration',
		'MASTER STATUS'    => 'File,Position,Binlog_Do_DB,Binlog_Ignore_DB,Executed_Gtid_Set',
		'SLAVE STATUS'     => 'Slave_IO_State,Master_Host,Master_User,Master_Port,Connect_Retry',
		'REPLICA STATUS'   => 'Replica_IO_State,Source_Host,Source_User,Source_Port,Connect_Retry',
		'SLAVE HOSTS'      => 'Server_id,Host,Port,Master_id,Slave_UUID',
		'BINARY LOGS'      => 'Log_name,File_size,Encrypted',
		'MASTER LOGS'      => 'Log_name,File_size,Encrypted',
		'PRIVILEGES'       => 'Privilege,Context,Comment',
	];
	/** Results that are tables of information_schema: second word => table, and columns as they are called here. */
	private const TABLES = [
		'ENGINES'   => [ 'engines', 'Engine,Support,Comment,Transactions,XA,Savepoints' ],
		'COLLATION' => [ 'collations', 'Collation,Charset,Id,Default,Compiled,Sortlen,Pad_attribute' ],
	];

	private Driver $driver;
	private WP_Parser_Node $node;
	private string $query;

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$this->driver = $driver;
		$this->node   = $node;
		$this->query  = $query;
		$driver->schema()->settle_collations();
		$words = self::words( $node );
		foreach ( [ implode( ' ', array_slice( $words, 0, 2 ) ), $words[0] ] as $subject ) {
			if ( isset( self::EMPTY[ $subject ] ) ) {
				return $this->listing( explode( ',', self::EMPTY[ $subject ] ), [] );
			}
			if ( isset( self::TABLES[ $subject ] ) ) {
				[ $table, $columns ] = self::TABLES[ $subject ];
				return $this->listing( explode( ',', $columns ), $this->rows( $table ) );
			}
		}
		return $this->other( $words );
	}

	/**
	 * Returns the words after SHOW that say what is to be shown, in upper case.
	 *
	 * @return string[]
	 */
	private static function words( WP_Parser_Node $node ): array {
		$skipped = [ 'optionType', 'showCommandType', 'likeOrWhere', 'inDb', 'engineRef' ];
		$words   = [];
		foreach ( array_slice( $node->get_children(), 1 ) as $child ) {
			if ( $child instanceof WP_Parser_Node && in_array( $child->rule_name, $skipped, true ) ) {
				continue;
			}
			$tokens = $child instanceof WP_Parser_Node ? $child->get_descendant_tokens() : [ $child ];
			foreach ( $tokens as $token ) {
				$words[] = strtoupper( $token->get_value() );
			}
		}
		return array_values( array_diff( $words, [ 'STORAGE', 'FULL', 'GLOBAL', 'SESSION', 'LOCAL', 'EXTENDED' ] ) ) ?: [ '' ];
	}

	private function rows( string $table ): array {
		return ( new Server_Tables( $this->driver ) )->get( $table )[1];
	}

	private function listing( array $columns, array $rows ): PDOStatement {
		return Listing::answer( $columns, $rows, $this->node, $this->query, $this->driver );
	}

	/** @param string[] $words */
	private function other( array $words ): ?PDOStatement {
		switch ( $words[0] ) {
			case 'CHARSET':
			case 'CHARACTER':
			case 'CHAR':
				$rows = array_map(
					static fn ( array $row ) => [ $row[0], $row[2], $row[1], $row[3] ],
					$this->rows( 'character_sets' )
				);
				return $this->listing( [ 'Charset', 'Description', 'Default collation', 'Maxlen' ], $rows );
			case 'VARIABLES':
				return $this->listing( [ 'Variable_name', 'Value' ], $this->driver->variables()->all() );
			case 'STATUS':
				return $this->listing( [ 'Variable_name', 'Value' ], ( new Server_Tables( $this->driver ) )->status() );
			case 'PLUGINS':
				$rows = array_map(
					static fn ( array $row ) => [ $row[0], $row[2], $row[3], $row[4], $row[5] ],
					$this->rows( 'plugins' )
				);
				return $this->listing( [ 'Name', 'Status', 'Type', 'Library', 'License' ], $rows );
			case 'PROCESSLIST':
				$columns = [ 'Id', 'User', 'Host', 'db', 'Command', 'Time', 'State', 'Info' ];
				return $this->driver->result( $columns, $this->rows( 'processlist' ), $this->query );
			case 'WARNINGS':
			case 'ERRORS':
				return $this->driver->result( [ 'Level', 'Code', 'Message' ], $this->problems(), $this->query );
			case 'COUNT':
				$name = '@@session.' . ( in_array( 'ERRORS', $words, true ) ? 'error_count' : 'warning_count' );
				return $this->driver->result( [ $name ], [ [ count( $this->problems() ) ] ], $this->query );
			case 'ENGINE':
				return $this->driver->result( [ 'Type', 'Name', 'Status' ], [ [ 'InnoDB', '', '' ] ], $this->query );
			case 'TABLE':
				return $this->table_status();
			case 'CREATE':
				return $this->create( $words[1] ?? '' );
			default:
				return null;
		}
	}

	private function problems(): array {
		$error = $this->driver->diagnostics();
		return null === $error ? [] : [ [ 'Error', $error[1], $error[2] ] ];
	}

	private function table_status(): PDOStatement {
		$in        = $this->node->get_first_child_node( 'inDb' );
		$database  = null === $in ? $this->driver->schema()->database() : Schema::name_of( $in->get_first_child_node( 'identifier' ) );
		$condition = $this->node->get_first_child_node( 'likeOrWhere' );
		$like      = null === $condition ? null : $condition->get_first_child_node( 'likeClause' );
		$where     = null === $condition ? '' : substr( $this->query, $condition->get_start(), $condition->get_length() );
		$quoted    = "'" . addcslashes( $database, "\\'" ) . "'";
		$listing   = "SELECT * FROM (SELECT TABLE_NAME AS Name, ENGINE AS Engine, VERSION AS Version, ROW_FORMAT AS Row_format, TABLE_ROWS AS `Rows`,
				AVG_ROW_LENGTH AS Avg_row_length, DATA_LENGTH AS Data_length, MAX_DATA_LENGTH AS Max_data_length, INDEX_LENGTH AS Index_length,
				DATA_FREE AS Data_free, `AUTO_INCREMENT` AS Auto_increment, CREATE_TIME AS Create_time, UPDATE_TIME AS Update_time,
				CHECK_TIME AS Check_time, TABLE_COLLATION AS Collation, CHECKSUM AS Checksum, CREATE_OPTIONS AS Create_options,
				TABLE_COMMENT AS Comment FROM information_schema.TABLES WHERE TABLE_SCHEMA = $quoted) AS listing "
			. ( null === $like ? $where : "WHERE Name $where" ) . ' ORDER BY Name';
		// WHERE may contain anything, also what depends on the time.
		$is_repeatable = null !== $like || '' === $where;
		return $is_repeatable ? $this->driver->repeatable_query( $listing ) : $this->driver->driver_query( $listing );
	}

	private function create( string $what ): ?PDOStatement {
		switch ( $what ) {
			case 'TABLE':
				return $this->create_table();
			case 'DATABASE':
			case 'SCHEMA':
				$name = $this->driver->schema()->database();
				$set  = '/*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE ' . Schema::COLLATION . ' */';
				return $this->driver->result(
					[ 'Database', 'Create Database' ],
					[ [ $name, 'CREATE DATABASE ' . Schema::quoted( $name ) . " $set" ] ],
					$this->query
				);
			case 'VIEW':
				throw Errors::create( $this->driver, 1347, "'" . Schema::last_name_of( $this->node ) . "' is not VIEW" );
			case 'TRIGGER':
				throw Errors::create( $this->driver, 1360, 'Trigger does not exist' );
			case 'PROCEDURE':
			case 'FUNCTION':
			case 'EVENT':
				throw Errors::create( $this->driver, 1305, "$what " . Schema::last_name_of( $this->node ) . ' does not exist' );
			default:
				return null;
		}
	}

	/** `SHOW CREATE TABLE` with the collations and expressions of columns, which the driver leaves out. */
	private function create_table(): ?PDOStatement {
		$reference = $this->node->get_first_child_node( 'tableRef' );
		$names     = $reference->get_descendant_nodes( 'identifier' );
		if ( count( $names ) > 1 && 'information_schema' === strtolower( Schema::name_of( $reference ) ) ) {
			return null;
		}
		$table = $this->driver->schema()->get( $reference );
		$row   = $this->driver->driver_query( 'SHOW CREATE TABLE ' . Schema::quoted( $table->name ) )->fetch( PDO::FETCH_NUM );
		$rows  = [ [ $row[0], self::completed( $row[1], $table ) ] ];
		return $this->driver->result( [ 'Table', 'Create Table' ], $rows, $this->query );
	}

	private static function completed( string $definition, Table $table ): string {
		$of_table = $table->rows( 'tables' )[0]['TABLE_COLLATION'];
		foreach ( $table->rows( 'columns' ) as $column ) {
			$start     = "\n  " . Schema::quoted( $column['COLUMN_NAME'] ) . ' ' . $column['COLUMN_TYPE'];
			$at        = strpos( $definition, $start );
			$collation = $column['COLLATION_NAME'];
			$kind      = Generated_Columns::kind( $column['EXTRA'] );
			$words     = null === $collation || $collation === $of_table ? '' : " CHARACTER SET {$column['CHARACTER_SET_NAME']} COLLATE $collation";
			if ( false === $at ) {
				continue;
			}
			$at += strlen( $start );
			if ( null !== $kind ) {
				$default    = " DEFAULT ({$column['COLUMN_DEFAULT']})";
				$definition = substr_replace( $definition, '', strpos( $definition, $default, $at ), strlen( $default ) );
				$words     .= " GENERATED ALWAYS AS ({$column['GENERATION_EXPRESSION']}) $kind";
			}
			$definition = substr_replace( $definition, $words, $at, 0 );
		}
		return $definition;
	}
}
