-- Flights from New York City in 2013: four tables, kept up to date by one pipeline.

CREATE TABLE flights (
  id BIGINT,
  scheduled TIMESTAMP(3),
  carrier STRING,
  tailnum STRING,
  origin STRING,
  dest STRING,
  flight INT,
  dep_delay INT,
  arr_delay INT,
  distance INT,
  WATERMARK FOR scheduled AS scheduled - INTERVAL '5' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${dir}/flights', 'format' = 'parquet');

CREATE TABLE planes (
  tailnum STRING,
  `year` INT,
  manufacturer STRING,
  model STRING,
  seats INT
) WITH ('connector' = 'filesystem', 'path' = '${dir}/planes', 'format' = 'parquet');

CREATE TABLE hourly_delays (
  origin STRING,
  window_start TIMESTAMP(3),
  flights BIGINT,
  cancelled BIGINT,
  delay_total INT,
  delay_average DOUBLE,
  delay_worst INT,
  PRIMARY KEY (origin, window_start) NOT ENFORCED
) WITH ('connector' = 'duckdb', 'path' = '${dir}/result.duckdb', 'table' = 'hourly_delays');

CREATE TABLE carrier_totals (
  carrier STRING,
  aircraft BIGINT,
  flights BIGINT,
  cancelled BIGINT,
  miles BIGINT,
  busiest BIGINT,
  PRIMARY KEY (carrier) NOT ENFORCED
) WITH ('connector' = 'duckdb', 'path' = '${dir}/result.duckdb', 'table' = 'carrier_totals');

CREATE TABLE latest_flights (
  tailnum STRING,
  id BIGINT,
  scheduled TIMESTAMP(3),
  carrier STRING,
  flight INT,
  origin STRING,
  dest STRING,
  PRIMARY KEY (tailnum) NOT ENFORCED
) WITH ('connector' = 'duckdb', 'path' = '${dir}/result.duckdb', 'table' = 'latest_flights');

CREATE TABLE flights_with_planes (
  id BIGINT,
  scheduled TIMESTAMP(3),
  tailnum STRING,
  manufacturer STRING,
  model STRING,
  seats INT,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'duckdb', 'path' = '${dir}/result.duckdb', 'table' = 'flights_with_planes');

EXECUTE STATEMENT SET BEGIN

-- Departures of each airport by scheduled hour; a cancelled flight has no delay.
INSERT INTO hourly_delays
SELECT origin, window_start, COUNT(*), COUNT(*) - COUNT(dep_delay), SUM(dep_delay),
  CAST(SUM(dep_delay) AS DOUBLE) / COUNT(dep_delay), MAX(dep_delay)
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(scheduled), INTERVAL '1' HOUR))
GROUP BY origin, window_start, window_end;

-- Running totals of each carrier over its aircraft: every flight takes the aircraft's old numbers back.
INSERT INTO carrier_totals
SELECT carrier, COUNT(*), SUM(flights), SUM(cancelled), SUM(miles), MAX(flights)
FROM (
  SELECT carrier, tailnum, COUNT(*) AS flights, COUNT(*) - COUNT(dep_delay) AS cancelled,
    SUM(CAST(distance AS BIGINT)) AS miles
  FROM flights
  GROUP BY carrier, tailnum
)
GROUP BY carrier;

-- Where each aircraft was sent last.
INSERT INTO latest_flights
SELECT tailnum, id, scheduled, carrier, flight, origin, dest
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY tailnum ORDER BY scheduled DESC) AS place
  FROM flights
  WHERE tailnum IS NOT NULL
)
WHERE place = 1;

-- Flights with what is known of their aircraft.
INSERT INTO flights_with_planes
SELECT f.id, f.scheduled, f.tailnum, p.manufacturer, p.model, p.seats
FROM flights AS f JOIN planes AS p ON f.tailnum = p.tailnum
ON CONFLICT DO DEDUPLICATE;

END;
