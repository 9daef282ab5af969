<?php
namespace WP_MySQL_Layer;

/**
 * The server's variables. The driver keeps those that the session sets; the others have these values, which are MySQL 8's
 * where they don't depend on the server.
 */
final class Variables {
	/** Variables whose values the driver knows. */
	private const OF_DRIVER = [
		'sql_mode'        => true,
		'version'         => true,
		'version_comment' => true,
	];
	/** Seconds that the session's time zone is ahead of UTC. */
	private int $offset = 0;

	/** `SHOW VARIABLES` shows true and false as ON and OFF. */
	private const DEFAULTS = [
		'auto_increment_increment'      => 1,
		'auto_increment_offset'         => 1,
		'autocommit'                    => true,
		'big_tables'                    => false,
		'binlog_format'                 => 'ROW',
		'character_set_client'          => 'utf8mb4',
		'character_set_connection'      => 'utf8mb4',
		'character_set_database'        => 'utf8mb4',
		'character_set_filesystem'      => 'binary',
		'character_set_results'         => 'utf8mb4',
		'character_set_server'          => 'utf8mb4',
		'character_set_system'          => 'utf8mb3',
		'collation_connection'          => Schema::COLLATION,
		'collation_database'            => Schema::COLLATION,
		'collation_server'              => Schema::COLLATION,
		'concurrent_insert'             => 'AUTO',
		'connect_timeout'               => 10,
		'default_storage_engine'        => 'InnoDB',
		'default_tmp_storage_engine'    => 'InnoDB',
		'default_week_format'           => 0,
		'div_precision_increment'       => 4,
		'event_scheduler'               => 'OFF',
		'foreign_key_checks'            => true,
		'ft_max_word_len'               => 84,
		'ft_min_word_len'               => 4,
		'general_log'                   => false,
		'group_concat_max_len'          => 1048576,
		'have_openssl'                  => 'DISABLED',
		'have_profiling'                => 'NO',
		'have_query_cache'              => 'NO',
		'have_ssl'                      => 'DISABLED',
		'have_symlink'                  => 'DISABLED',
		'hostname'                      => 'localhost',
		'init_connect'                  => '',
		'innodb_buffer_pool_size'       => 134217728,
		'innodb_default_row_format'     => 'dynamic',
		'innodb_file_format'            => 'Barracuda',
		'innodb_file_per_table'         => true,
		'innodb_flush_log_at_trx_commit' => 1,
		'innodb_ft_max_token_size'      => 84,
		'innodb_ft_min_token_size'      => 3,
		'innodb_large_prefix'           => 'ON',
		'innodb_lock_wait_timeout'      => 50,
		'innodb_log_file_size'          => 50331648,
		'innodb_page_size'              => 16384,
		'innodb_strict_mode'            => true,
		'innodb_version'                => '8.0.38',
		'interactive_timeout'           => 28800,
		'join_buffer_size'              => 262144,
		'key_buffer_size'               => 8388608,
		'lc_messages'                   => 'en_US',
		'lc_time_names'                 => 'en_US',
		'license'                       => 'GPL',
		'local_infile'                  => false,
		'lock_wait_timeout'             => 31536000,
		'log_bin'                       => false,
		'log_error'                     => 'stderr',
		'long_query_time'               => '10.000000',
		'low_priority_updates'          => false,
		'lower_case_file_system'        => 'OFF',
		'lower_case_table_names'        => 0,
		'max_allowed_packet'            => 67108864,
		'max_connect_errors'            => 100,
		'max_connections'               => 151,
		'max_execution_time'            => 0,
		'max_heap_table_size'           => 16777216,
		'max_join_size'                 => '18446744073709551615',
		'max_prepared_stmt_count'       => 16382,
		'max_sort_length'               => 1024,
		'max_user_connections'          => 0,
		'myisam_sort_buffer_size'       => 8388608,
		'net_buffer_length'             => 16384,
		'net_read_timeout'              => 30,
		'net_write_timeout'             => 60,
		'old_passwords'                 => 0,
		'open_files_limit'              => 10000,
		'optimizer_switch'              => '',
		'performance_schema'            => false,
		'port'                          => 3306,
		'protocol_version'              => 10,
		'query_cache_limit'             => 0,
		'query_cache_size'              => 0,
		'query_cache_type'              => 'OFF',
		'read_buffer_size'              => 131072,
		'read_only'                     => false,
		'read_rnd_buffer_size'          => 262144,
		'secure_file_priv'              => null,
		'server_id'                     => 1,
		'skip_networking'               => true,
		'slow_query_log'                => false,
		'socket'                        => '',
		'sort_buffer_size'              => 262144,
		'sql_auto_is_null'              => false,
		'sql_big_selects'               => true,
		'sql_log_bin'                   => true,
		'sql_notes'                     => true,
		'sql_quote_show_create'         => true,
		'sql_safe_updates'              => false,
		'sql_select_limit'              => '18446744073709551615',
		'sql_warnings'                  => false,
		'storage_engine'                => 'InnoDB',
		'super_read_only'               => false,
		'system_time_zone'              => 'UTC',
		'table_definition_cache'        => 2000,
		'table_open_cache'              => 4000,
		'thread_cache_size'             => 9,
		'thread_stack'                  => 1048576,
		'time_zone'                     => '+00:00',
		'tmp_table_size'                => 16777216,
		'tmpdir'                        => '/tmp',
		'transaction_isolation'         => 'REPEATABLE-READ',
		'transaction_read_only'         => false,
		'tx_isolation'                  => 'REPEATABLE-READ',
		'tx_read_only'                  => false,
		'unique_checks'                 => true,
		'updatable_views_with_limit'    => 'YES',
		'version_compile_machine'       => 'x86_64',
		'version_compile_os'            => 'Linux',
		'wait_timeout'                  => 28800,
		'warning_count'                 => 0,
	];

	private Driver $driver;
	/** Names that the session has set, as keys. @var array<string, true> */
	private array $set = [];

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/** Whether the driver has a variable's value, because the session has set it. */
	public function is_of_driver( string $name ): bool {
		return isset( $this->set[ $name ] ) || isset( self::OF_DRIVER[ $name ] );
	}

	/** Returns how many seconds the session's time zone is ahead of UTC. */
	public function offset(): int {
		return $this->offset;
	}

	/** @param string $zone A time zone as MySQL writes it: `+02:00`, `Europe/Berlin` or `SYSTEM`. */
	public function set_time_zone( string $zone ): void {
		try {
			$this->offset = 'SYSTEM' === strtoupper( $zone ) ? 0 : ( new \DateTimeZone( $zone ) )->getOffset( new \DateTimeImmutable() );
		} catch ( \Exception $_ ) {
			throw Errors::create( $this->driver, 1298, "Unknown or incorrect time zone: '$zone'" );
		}
	}

	/** Takes note that the driver has a variable's value from now on, or, with DEFAULT, that it has not. */
	public function note( string $name, bool $is_default ): void {
		if ( $is_default ) {
			unset( $this->set[ $name ] );
		} else {
			$this->set[ $name ] = true;
		}
	}

	/**
	 * Returns the value of a variable that the session has not set.
	 *
	 * @return int|string|null
	 */
	public function default_of( string $name ) {
		if ( 'hostname' === $name ) {
			return (string) gethostname();
		}
		$value = self::DEFAULTS[ $name ] ?? null;
		return is_bool( $value ) ? (int) $value : $value;
	}

	/**
	 * Returns all variables for `SHOW VARIABLES`.
	 *
	 * @return array{string, string}[]
	 */
	public function all(): array {
		$names = array_keys( self::DEFAULTS + $this->set + self::OF_DRIVER );
		sort( $names );
		// The query has few variables: programs ask for one after another.
		$asked    = array_keys( $this->set + self::OF_DRIVER );
		$selected = implode( ', ', array_map( static fn ( string $name ) => '@@' . Schema::quoted( $name ), $asked ) );
		$values   = array_combine( $asked, $this->driver->driver_query( "SELECT $selected" )->fetch( \PDO::FETCH_NUM ) );
		$rows     = [];
		foreach ( $names as $name ) {
			$value  = (string) ( $values[ $name ] ?? $this->default_of( $name ) );
			$rows[] = [ $name, is_bool( self::DEFAULTS[ $name ] ?? null ) ? ( '1' === $value ? 'ON' : 'OFF' ) : $value ];
		}
		return $rows;
	}
}
