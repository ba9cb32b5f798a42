"""The options of curl and wget that name files."""

from __future__ import annotations

from checkrein.facts.shell_use import FileUse
from checkrein.facts.shell_words import names, words

FETCHES: dict[str, FileUse] = {
    "curl": FileUse(
        values="XAeubumwxyYzErQCtU",
        long=names(
            "request user-agent referer user max-time write-out proxy connect-timeout retry"
            " url resolve"
            " data-raw range cacert-status limit-rate interface retry-delay retry-max-time connect-to"
            " max-redirs proto proto-default form-string oauth2-bearer aws-sigv4 max-filesize"
        ),
        write_options=names(
            "o output D dump-header c cookie-jar output-dir trace trace-ascii stderr libcurl hsts alt-svc"
            " etag-save"
        ),
        here_options=names("O remote-name remote-name-all J remote-header-name"),
        config_options=names("K config"),
        known_options=words(
            "s S L f k i I v g G N O J 0 1 2 3 4 6 a B j l n p q R Z # silent show-error location"
            " fail insecure"
            " include head verbose globoff get no-buffer remote-name remote-name-all"
            " remote-header-name compressed"
            " http1.1 http2 http3 fail-with-body no-progress-meter progress-bar ipv4 ipv6 anyauth"
            " basic digest"
            " location-trusted path-as-is create-dirs tlsv1.2 tlsv1.3 version retry-all-errors"
            " retry-connrefused parallel raw disable"
        ),
        read_options=names(
            "T upload-file K config E cert key cacert netrc-file b cookie d data data-binary"
            " data-ascii data-urlencode"
            " F form json H header"
        ),
    ),
    "wget": FileUse(
        values="twTQUeRAXID",
        long=names("header user-agent timeout tries wait quota execute referer user password"),
        write_options=names(
            "O output-document P directory-prefix o output-file a append-output save-cookies hsts-file"
            " warc-file rejected-log"
        ),
        read_options=names("i input-file post-file body-file load-cookies config"),
        config_options=names("i input-file config"),
        known_options=words(
            "q v c N S r k p l m H L nv nc nd nH np quiet verbose continue timestamping spider recursive"
            " no-check-certificate no-verbose no-clobber content-disposition show-progress no-parent mirror n"
            " no-directories https-only version d"
        ),
    ),
}
