"""Superset on one machine: its own database is a file of SUPERSET_HOME, and no reverse proxy is before it."""
import os

SECRET_KEY = "only-for-tests-on-loopback-0123456789abcdef"
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db?check_same_thread=false"
TALISMAN_ENABLED = False
WTF_CSRF_ENABLED = False

# Superset 6.0 and 6.1 lose the DATE() of their own grains for MySQL when they print the statement again (apache/superset#36798), so
# that an hour is added to the whole time, on every MySQL server. A cast around it survives.
_DAY = "CAST(DATE({col}) AS DATETIME)"
TIME_GRAIN_ADDON_EXPRESSIONS = {"mysql": {
    "PT1S": f"DATE_ADD({_DAY}, INTERVAL (HOUR({{col}})*60*60 + MINUTE({{col}})*60 + SECOND({{col}})) SECOND)",
    "PT1M": f"DATE_ADD({_DAY}, INTERVAL (HOUR({{col}})*60 + MINUTE({{col}})) MINUTE)",
    "PT1H": f"DATE_ADD({_DAY}, INTERVAL HOUR({{col}}) HOUR)",
}}
