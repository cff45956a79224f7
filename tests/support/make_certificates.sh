#!/bin/sh
# usage: make_certificates.sh FOLDER
#
# Makes the certificates of the TLS tests, in PEM, by the openssl program. Those that are used have
# their key in the same file:
#
#   ca.pem            the CA that the tests trust
#   server.pem        for localhost, 127.0.0.1 and ::1
#   expired.pem       the same, but it ended yesterday
#   other_host.pem    for db.example.com
#   wildcard.pem      for *.example.com and d*.example.org
#   common_name.pem   for localhost by its common name alone, as in the old days
#   untrusted.pem     for localhost, signed by other_ca.pem
#   client.pem        a client's
#   encrypted.pem     the same, its key encrypted with the password "canary-7Q2x"
#   mismatch.pem      the server's certificate with the client's key
#   certificate.pem, key.pem, damaged.pem   parts of server.pem
set -eu
cd "$1"

curve="-pkeyopt ec_paramgen_curve:P-256"

# new_ca NAME
new_ca() {
    openssl req -x509 -newkey ec $curve -nodes -days 3650 -subj "/O=Holdfast/CN=Test $1" \
        -addext basicConstraints=critical,CA:TRUE -keyout "$1.key" -out "$1.pem" 2>/dev/null
}

# new_certificate NAME CA DAYS COMMON_NAME [EXTENSION]
new_certificate() {
    openssl req -new -newkey ec $curve -nodes -subj "/O=Holdfast/CN=$4" -keyout "$1.key" \
        -out "$1.csr" 2>/dev/null
    printf '%s\n' "${5:-basicConstraints=CA:FALSE}" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -days "$3" -extfile "$1.ext" \
        -out "$1.crt" 2>/dev/null
    cat "$1.crt" "$1.key" > "$1.pem"
}

here=subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1
new_ca ca
new_ca other_ca
new_certificate server ca 3650 localhost $here
new_certificate expired ca -1 localhost $here
new_certificate other_host ca 3650 db.example.com subjectAltName=DNS:db.example.com
new_certificate wildcard ca 3650 example "subjectAltName=DNS:*.example.com,DNS:d*.example.org"
new_certificate common_name ca 3650 localhost
new_certificate untrusted other_ca 3650 localhost $here
new_certificate client ca 3650 client extendedKeyUsage=clientAuth

openssl pkey -in client.key -aes-256-cbc -passout pass:canary-7Q2x -out encrypted.key
cat client.crt encrypted.key > encrypted.pem
cat server.crt client.key > mismatch.pem
cp server.crt certificate.pem
cp server.key key.pem
{ cat server.crt; sed 's/^M/!/' client.crt; cat server.key; } > damaged.pem
rm -f ./*.csr ./*.ext ./*.crt
