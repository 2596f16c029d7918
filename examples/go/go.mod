module isolde.example/transfer

go 1.21

require github.com/apache/cassandra-gocql-driver/v2 v2.1.2
